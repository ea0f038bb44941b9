package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.FloatType;

/**
 * Sum and mean of floating numbers, compensated (Neumaier), so that the rounding of many small terms does not add up.
 *
 * <p>Numbers kept: how many values, the sum's bits, the bits of what rounding took from it. The order of the terms still shows in the
 * last digit: the caller keeps it the same on every replay.
 */
final class DoubleSum extends Aggregate {
  private final boolean mean;
  private final int ordinal;
  private final boolean single;

  DoubleSum(String name, boolean mean, int ordinal, DataType input) {
    super(name);
    this.mean = mean;
    this.ordinal = ordinal;
    this.single = input instanceof FloatType;
  }

  @Override
  public int words() {
    return 3;
  }

  @Override
  public String codec() {
    return (mean ? "avg(" : "sum(") + (single ? "float)" : "double)");
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    if (!inputs.isNullAt(ordinal)) {
      slots.words[word(slots)]++;
      plus(slots, single ? inputs.getFloat(ordinal) : inputs.getDouble(ordinal));
    }
  }

  private void plus(Slots slots, double value) {
    int at = word(slots);
    long[] words = slots.words;
    double sum = Double.longBitsToDouble(words[at + 1]);
    double next = sum + value;
    double lost = Math.abs(sum) >= Math.abs(value) ? (sum - next) + value : (value - next) + sum;
    words[at + 1] = Double.doubleToRawLongBits(next);
    words[at + 2] = Double.doubleToRawLongBits(Double.longBitsToDouble(words[at + 2]) + lost);
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    if (from.words[at] != 0) {
      into.words[word(into)] += from.words[at];
      double sum = Double.longBitsToDouble(from.words[at + 1]);
      plus(into, sum);
      if (finite(sum)) {
        plus(into, Double.longBitsToDouble(from.words[at + 2]));
      }
    }
  }

  /** Past the finite numbers nothing is lost by rounding, and the compensation is not a number. */
  private static boolean finite(double sum) {
    return Math.abs(sum) <= Double.MAX_VALUE;
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    out.writeUnsigned(mean ? slots.words[at] : Math.min(1, slots.words[at]));
    if (slots.words[at] != 0) {
      out.writeFixed(slots.words[at + 1]);
      out.writeFixed(slots.words[at + 2]);
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int at = word(slots);
    slots.words[at] = in.readUnsigned();
    if (slots.words[at] != 0) {
      slots.words[at + 1] = in.readFixed();
      slots.words[at + 2] = in.readFixed();
    }
  }

  @Override
  public Object result(Slots slots) {
    int at = word(slots);
    long count = slots.words[at];
    if (count == 0) {
      return null;
    }
    double sum = Double.longBitsToDouble(slots.words[at + 1]);
    if (finite(sum)) {
      sum += Double.longBitsToDouble(slots.words[at + 2]);
    }
    return mean ? sum / count : sum;
  }
}
