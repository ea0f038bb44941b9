package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Variance and standard deviation of doubles, of the sample or of the population.
 *
 * <p>Numbers kept: how many values, the bits of their mean, the bits of the sum of squared distances from it (Welford; two sets join by
 * Chan's formula), which stays exact where squares of large numbers would cancel out.
 */
final class Moments extends Aggregate {
  private final boolean root;
  private final boolean sample;
  private final int ordinal;

  Moments(String name, boolean root, boolean sample, int ordinal) {
    super(name);
    this.root = root;
    this.sample = sample;
    this.ordinal = ordinal;
  }

  @Override
  public int words() {
    return 3;
  }

  /** The same state for all four: count, mean, squares. */
  @Override
  public String codec() {
    return "moments";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    if (!inputs.isNullAt(ordinal)) {
      int at = word(slots);
      double value = inputs.getDouble(ordinal);
      double mean = Double.longBitsToDouble(slots.words[at + 1]);
      double off = value - mean;
      double step = off / (slots.words[at] + 1);
      double squares = Double.longBitsToDouble(slots.words[at + 2]) + off * (off - step);
      set(slots, slots.words[at] + 1, mean + step, squares);
    }
  }

  private void set(Slots slots, long count, double mean, double squares) {
    int at = word(slots);
    slots.words[at] = count;
    slots.words[at + 1] = Double.doubleToRawLongBits(mean);
    slots.words[at + 2] = Double.doubleToRawLongBits(squares);
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    int to = word(into);
    long more = from.words[at];
    long count = into.words[to];
    if (more == 0) {
      return;
    }
    if (count == 0) {
      System.arraycopy(from.words, at, into.words, to, words());
      return;
    }
    double mean = Double.longBitsToDouble(into.words[to + 1]);
    double off = Double.longBitsToDouble(from.words[at + 1]) - mean;
    double step = off / (count + more);
    double squares = Double.longBitsToDouble(into.words[to + 2]) + Double.longBitsToDouble(from.words[at + 2])
        + off * step * count * more;
    set(into, count + more, mean + step * more, squares);
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    out.writeUnsigned(slots.words[at]);
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

  /** One value alone has no variance as a sample: null, as in Spark. */
  @Override
  public Object result(Slots slots) {
    long count = slots.words[word(slots)];
    long over = sample ? count - 1 : count;
    if (over <= 0) {
      return null;
    }
    double variance = Double.longBitsToDouble(slots.words[word(slots) + 2]) / over;
    return root ? Math.sqrt(variance) : variance;
  }
}
