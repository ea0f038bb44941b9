package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;

/**
 * First and last value by (event time, source, partition, offset), whatever the order of arrival. A null counts as a value,
 * unless nulls are ignored.
 *
 * <p>Numbers kept: none, null or value; the row's place; the value, when it fits one number. Else the value is an
 * object: the bytes of a row of one field.
 */
final class Edge extends Aggregate {
  private static final int NULL = 1;
  private static final int VALUE = 2;
  private final boolean last;
  private final boolean ignoreNulls;
  private final int ordinal;
  private final DataType type;
  private final Fixed kind;
  private final UnsafeProjection single;

  Edge(String name, boolean last, boolean ignoreNulls, int ordinal, DataType type) {
    super(name);
    this.last = last;
    this.ignoreNulls = ignoreNulls;
    this.ordinal = ordinal;
    this.type = type;
    this.kind = Fixed.of(type);
    this.single = kind != null ? null : UnsafeProjection.create(new BoundReference(ordinal, type, true));
  }

  @Override
  public int words() {
    return 5;
  }

  @Override
  public int objects() {
    return kind == null ? 1 : 0;
  }

  @Override
  public String codec() {
    return (last ? "last(" : "first(") + type.catalogString() + ")";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    int at = word(slots);
    long[] words = slots.words;
    boolean absent = inputs.isNullAt(ordinal);
    if (absent && ignoreNulls || words[at] != 0 && !wins(Place.compare(position, words, at + 1))) {
      return;
    }
    words[at] = absent ? NULL : VALUE;
    Place.set(words, at + 1, position);
    if (kind != null) {
      words[at + 4] = absent ? 0 : kind.read(inputs, ordinal);
    } else {
      slots.objects[object(slots)] = absent ? null : single.apply(inputs).copy().getBytes();
    }
  }

  private boolean wins(int order) {
    return last ? order > 0 : order < 0;
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    long[] words = from.words;
    int to = word(into);
    if (words[at] != 0 && (into.words[to] == 0 || wins(Place.compare(words, at + 1, into.words, to + 1)))) {
      System.arraycopy(words, at, into.words, to, words());
      if (kind == null) {
        into.objects[object(into)] = from.objects[object(from)];
      }
    }
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    long[] words = slots.words;
    out.writeByte((int) words[at]);
    if (words[at] == 0) {
      return;
    }
    Place.write(words, at + 1, out);
    if (words[at] == VALUE) {
      if (kind != null) {
        out.writeFixed(words[at + 4]);
      } else {
        out.writeBytes((byte[]) slots.objects[object(slots)]);
      }
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int at = word(slots);
    long[] words = slots.words;
    words[at] = in.readByte();
    if (words[at] == 0) {
      return;
    }
    Place.read(words, at + 1, in);
    if (words[at] == VALUE) {
      if (kind != null) {
        words[at + 4] = in.readFixed();
      } else {
        slots.objects[object(slots)] = in.readBytes();
      }
    }
  }

  @Override
  public Object result(Slots slots) {
    int at = word(slots);
    if (slots.words[at] != VALUE) {
      return null;
    }
    if (kind != null) {
      return kind.value(slots.words[at + 4], type);
    }
    byte[] bytes = (byte[]) slots.objects[object(slots)];
    UnsafeRow row = new UnsafeRow(1);
    row.pointTo(bytes, bytes.length);
    return row.get(0, type);
  }
}
