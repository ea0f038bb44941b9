package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.HyperLogLogPlusPlusHelper;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/**
 * {@code approx_count_distinct}, on Spark's own sketch, so that it equals Spark's answer in batch exactly.
 *
 * <p>Spark's helper works on a row of longs; ours is an unsafe row laid over the numbers of the key, null bits included.
 */
final class DistinctCount extends Aggregate {
  private final int ordinal;
  private final DataType type;
  private final double rsd;
  private final HyperLogLogPlusPlusHelper sketch;
  private final int registers;
  private final int nullWords;
  private final UnsafeRow left;
  private final UnsafeRow right;

  DistinctCount(String name, int ordinal, DataType type, double rsd) {
    super(name);
    this.ordinal = ordinal;
    this.type = type;
    this.rsd = rsd;
    sketch = new HyperLogLogPlusPlusHelper(rsd);
    registers = sketch.numWords();
    nullWords = UnsafeRow.calculateBitSetWidthInBytes(registers) / Long.BYTES;
    left = new UnsafeRow(registers);
    right = new UnsafeRow(registers);
  }

  @Override
  public int words() {
    return nullWords + registers;
  }

  @Override
  public String codec() {
    return "approx_count_distinct(" + type.catalogString() + "," + rsd + ")";
  }

  private UnsafeRow over(UnsafeRow row, Slots slots) {
    row.pointTo(slots.words, Platform.LONG_ARRAY_OFFSET + (long) word(slots) * Long.BYTES, words() * Long.BYTES);
    return row;
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    if (!inputs.isNullAt(ordinal)) {
      sketch.update(over(left, slots), 0, inputs.get(ordinal, type), type);
    }
  }

  @Override
  public void merge(Slots into, Slots from) {
    sketch.merge(over(left, into), over(right, from), 0, 0);
  }

  /** Most registers of a small set are zero: a bit per register says which follow. */
  @Override
  public void write(Slots slots, ByteWriter out) {
    int from = word(slots) + nullWords;
    for (int at = 0; at < registers; at += 8) {
      int present = 0;
      for (int i = at; i < Math.min(registers, at + 8); i++) {
        present |= slots.words[from + i] != 0 ? 1 << i - at : 0;
      }
      out.writeByte(present);
    }
    for (int i = 0; i < registers; i++) {
      if (slots.words[from + i] != 0) {
        out.writeFixed(slots.words[from + i]);
      }
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int from = word(slots) + nullWords;
    for (int at = 0; at < registers; at += 8) {
      int present = in.readByte();
      for (int i = at; i < Math.min(registers, at + 8); i++) {
        slots.words[from + i] = present >>> i - at & 1;
      }
    }
    for (int i = 0; i < registers; i++) {
      if (slots.words[from + i] != 0) {
        slots.words[from + i] = in.readFixed();
      }
    }
  }

  @Override
  public Object result(Slots slots) {
    return sketch.query(over(left, slots), 0);
  }
}
