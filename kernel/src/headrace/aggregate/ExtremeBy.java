package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.Comparator;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/**
 * {@code min_by(x, y)} and {@code max_by(x, y)}: the x of the row whose y is least or greatest, of equal ones the earliest row's.
 *
 * <p>The input is {@code struct<x, y>}. Rows whose y is null do not take part; x may be null. Numbers kept: none, null or value; the
 * row's place.
 */
final class ExtremeBy extends Aggregate {
  private static final int NULL = 1;
  private static final int VALUE = 2;
  private final boolean greatest;
  private final int ordinal;
  private final StructType type;
  private final Held value;
  private final Held order;
  private final Comparator<Object> comparator;

  ExtremeBy(String name, boolean greatest, int ordinal, StructType type) {
    super(name);
    this.greatest = greatest;
    this.ordinal = ordinal;
    this.type = type;
    value = new Held(type.fields()[0].dataType(), 0, false);
    order = new Held(type.fields()[1].dataType(), 1, true);
    comparator = order.order();
  }

  @Override
  public int words() {
    return 1 + Place.WORDS;
  }

  @Override
  public int objects() {
    return 2;
  }

  @Override
  public String codec() {
    return (greatest ? "max_by(" : "min_by(") + type.fields()[0].dataType().catalogString() + ","
        + type.fields()[1].dataType().catalogString() + ")";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    UnsafeRow both = inputs.getStruct(ordinal, 2);
    Object by = order.of(both);
    if (by == null) {
      return;
    }
    int at = word(slots);
    int object = object(slots);
    int versus = slots.words[at] == 0 ? 1 : versus(by, slots.objects[object]);
    if (versus > 0 || versus == 0 && Place.compare(position, slots.words, at + 1) < 0) {
      Object kept = value.of(both);
      slots.words[at] = kept == null ? NULL : VALUE;
      Place.set(slots.words, at + 1, position);
      slots.objects[object] = by;
      slots.objects[object + 1] = kept;
    }
  }

  /** Above 0 when it comes before the other, whichever end is asked for. */
  private int versus(Object by, Object other) {
    return greatest ? comparator.compare(by, other) : comparator.compare(other, by);
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    if (from.words[at] == 0) {
      return;
    }
    int to = word(into);
    int versus = into.words[to] == 0 ? 1 : versus(from.objects[object(from)], into.objects[object(into)]);
    if (versus > 0 || versus == 0 && Place.compare(from.words, at + 1, into.words, to + 1) < 0) {
      System.arraycopy(from.words, at, into.words, to, words());
      System.arraycopy(from.objects, object(from), into.objects, object(into), objects());
    }
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    out.writeByte((int) slots.words[at]);
    if (slots.words[at] != 0) {
      Place.write(slots.words, at + 1, out);
      order.write(slots.objects[object(slots)], out);
      if (slots.words[at] == VALUE) {
        value.write(slots.objects[object(slots) + 1], out);
      }
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int at = word(slots);
    slots.words[at] = in.readByte();
    if (slots.words[at] != 0) {
      Place.read(slots.words, at + 1, in);
      slots.objects[object(slots)] = order.read(in);
      if (slots.words[at] == VALUE) {
        slots.objects[object(slots) + 1] = value.read(in);
      }
    }
  }

  @Override
  public Object result(Slots slots) {
    return slots.words[word(slots)] == 0 ? null : value.value(slots.objects[object(slots) + 1]);
  }
}
