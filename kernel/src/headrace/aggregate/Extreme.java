package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;

/** The least or the greatest value of a column whose values fit one number. Nulls do not take part. */
final class Extreme extends Aggregate {
  private final boolean greatest;
  private final int ordinal;
  private final DataType type;
  private final Fixed kind;

  Extreme(String name, boolean greatest, int ordinal, DataType type, Fixed kind) {
    super(name);
    this.greatest = greatest;
    this.ordinal = ordinal;
    this.type = type;
    this.kind = kind;
  }

  @Override
  public int words() {
    return 2;
  }

  @Override
  public String codec() {
    return (greatest ? "max(" : "min(") + type.catalogString() + ")";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    if (!inputs.isNullAt(ordinal)) {
      offer(slots, kind.read(inputs, ordinal));
    }
  }

  private void offer(Slots slots, long value) {
    int at = word(slots);
    long[] words = slots.words;
    if (words[at] == 0 || (greatest ? value > words[at + 1] : value < words[at + 1])) {
      words[at] = 1;
      words[at + 1] = value;
    }
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    if (from.words[at] != 0) {
      offer(into, from.words[at + 1]);
    }
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    out.writeByte((int) slots.words[at]);
    if (slots.words[at] != 0) {
      if (kind == Fixed.FLOAT || kind == Fixed.DOUBLE) {
        out.writeFixed(slots.words[at + 1]);
      } else {
        out.writeSigned(slots.words[at + 1]);
      }
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int at = word(slots);
    slots.words[at] = in.readByte();
    if (slots.words[at] != 0) {
      slots.words[at + 1] = kind == Fixed.FLOAT || kind == Fixed.DOUBLE ? in.readFixed() : in.readSigned();
    }
  }

  @Override
  public Object result(Slots slots) {
    int at = word(slots);
    return slots.words[at] == 0 ? null : kind.value(slots.words[at + 1], type);
  }
}
