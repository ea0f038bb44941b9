package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DecimalType;

/** Sum and mean of decimals of more than 18 digits, exact whatever the size. */
final class WideSum extends Aggregate {
  /** In place of the count: as many values were added as taken back, and yet they do not cancel out. */
  private static final long LOOSE = Long.MIN_VALUE;
  private final boolean mean;
  private final boolean counted;
  private final int ordinal;
  private final DecimalType input;
  private final Total total;

  WideSum(String name, boolean mean, boolean counted, int ordinal, DecimalType input, Total total) {
    super(name);
    this.mean = mean;
    this.counted = counted || mean;
    this.ordinal = ordinal;
    this.input = input;
    this.total = total;
  }

  @Override
  public int words() {
    return 1;
  }

  @Override
  public int objects() {
    return 1;
  }

  @Override
  public String codec() {
    return (mean ? "avg(" : "sum(") + input.catalogString() + (counted && !mean ? ",counted)" : ")");
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    if (!inputs.isNullAt(ordinal)) {
      plus(slots, 1, inputs.getDecimal(ordinal, input.precision(), input.scale()).toJavaBigDecimal().unscaledValue());
    }
  }

  private void plus(Slots slots, long count, BigInteger value) {
    BigInteger before = (BigInteger) slots.objects[object(slots)];
    slots.words[word(slots)] += count;
    slots.objects[object(slots)] = before == null ? value : before.add(value);
  }

  @Override
  public boolean retracts() {
    return counted;
  }

  @Override
  public void retract(Slots slots, UnsafeRow inputs, Position position) {
    if (!inputs.isNullAt(ordinal)) {
      plus(slots, -1, inputs.getDecimal(ordinal, input.precision(), input.scale()).toJavaBigDecimal().unscaledValue().negate());
    }
  }

  @Override
  public void merge(Slots into, Slots from) {
    if (from.objects[object(from)] != null) {
      plus(into, from.words[word(from)], (BigInteger) from.objects[object(from)]);
    }
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    long count = slots.words[word(slots)];
    BigInteger sum = (BigInteger) slots.objects[object(slots)];
    boolean loose = count == 0 && sum != null && sum.signum() != 0;
    out.writeUnsigned(loose ? LOOSE : counted ? count : Math.min(1, count));
    if (count != 0 || loose) {
      out.writeBytes(sum.toByteArray());
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    long count = in.readUnsigned();
    slots.words[word(slots)] = count == LOOSE ? 0 : count;
    if (count != 0) {
      slots.objects[object(slots)] = new BigInteger(in.readBytes());
    }
  }

  @Override
  public Object result(Slots slots) {
    long count = slots.words[word(slots)];
    return count == 0 ? null : total.of((BigInteger) slots.objects[object(slots)], count);
  }
}
