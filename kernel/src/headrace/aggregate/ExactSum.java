package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;

/**
 * Sum and mean of whole numbers and of decimals of up to 18 digits: 128 bits, which no number of rows overflows.
 *
 * <p>Numbers kept: how many values, the lower half, the upper half. How many is stored where it is needed: for the mean, and to know
 * when rows that are taken back leave nothing to add up.
 */
final class ExactSum extends Aggregate {
  private final boolean mean;
  private final boolean counted;
  private final int ordinal;
  private final DataType input;
  private final Fixed kind;
  private final Total total;

  ExactSum(String name, boolean mean, boolean counted, int ordinal, DataType input, Fixed kind, Total total) {
    super(name);
    this.mean = mean;
    this.counted = counted || mean;
    this.ordinal = ordinal;
    this.input = input;
    this.kind = kind;
    this.total = total;
  }

  @Override
  public int words() {
    return 3;
  }

  @Override
  public String codec() {
    return (mean ? "avg(" : "sum(") + input.catalogString() + (counted && !mean ? ",counted)" : ")");
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    if (!inputs.isNullAt(ordinal)) {
      long value = kind.read(inputs, ordinal);
      plus(slots, 1, value, value >> 63);
    }
  }

  private void plus(Slots slots, long count, long low, long high) {
    int at = word(slots);
    long[] words = slots.words;
    long sum = words[at + 1] + low;
    long carry = Long.compareUnsigned(sum, low) < 0 ? 1 : 0;
    words[at] += count;
    words[at + 1] = sum;
    words[at + 2] += high + carry;
  }

  @Override
  public boolean retracts() {
    return counted;
  }

  @Override
  public void retract(Slots slots, UnsafeRow inputs, Position position) {
    if (!inputs.isNullAt(ordinal)) {
      long value = kind.read(inputs, ordinal);
      // The two's complement of 128 bits: all turned, and one more.
      plus(slots, -1, -value, value == 0 ? 0 : ~(value >> 63));
    }
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    plus(into, from.words[at], from.words[at + 1], from.words[at + 2]);
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    long low = slots.words[at + 1];
    long high = slots.words[at + 2];
    long count = counted ? slots.words[at] : Math.min(1, slots.words[at]);
    boolean wide = high != low >> 63;
    out.writeUnsigned(count << 1 | (wide ? 1 : 0));
    if (wide) {
      out.writeFixed(low);
      out.writeFixed(high);
    } else {
      out.writeSigned(low);
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int at = word(slots);
    long count = in.readUnsigned();
    // In what was combined before the shuffle more rows may have been taken back than added.
    slots.words[at] = count >> 1;
    if ((count & 1) != 0) {
      slots.words[at + 1] = in.readFixed();
      slots.words[at + 2] = in.readFixed();
    } else {
      slots.words[at + 1] = in.readSigned();
      slots.words[at + 2] = slots.words[at + 1] >> 63;
    }
  }

  @Override
  public Object result(Slots slots) {
    int at = word(slots);
    long count = slots.words[at];
    long low = slots.words[at + 1];
    long high = slots.words[at + 2];
    if (count == 0) {
      return null;
    }
    if (high == low >> 63) {
      return total.of(low, count);
    }
    BigInteger sum = BigInteger.valueOf(high).shiftLeft(64).add(new BigInteger(Long.toUnsignedString(low)));
    return total.of(sum, count);
  }
}
