package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** {@code count(*)}, and {@code count(x)} of the values that are not null. */
final class Count extends Aggregate {
  static final int ALL = -1;
  private final int ordinal;

  Count(String name, int ordinal) {
    super(name);
    this.ordinal = ordinal;
  }

  @Override
  public int words() {
    return 1;
  }

  @Override
  public String codec() {
    return "count";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    if (ordinal == ALL || !inputs.isNullAt(ordinal)) {
      slots.words[word(slots)]++;
    }
  }

  @Override
  public boolean retracts() {
    return true;
  }

  @Override
  public void retract(Slots slots, UnsafeRow inputs, Position position) {
    if (ordinal == ALL || !inputs.isNullAt(ordinal)) {
      slots.words[word(slots)]--;
    }
  }

  @Override
  public void merge(Slots into, Slots from) {
    into.words[word(into)] += from.words[word(from)];
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    out.writeUnsigned(slots.words[word(slots)]);
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    slots.words[word(slots)] = in.readUnsigned();
  }

  @Override
  public Object result(Slots slots) {
    return slots.words[word(slots)];
  }
}
