package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** When the first and the last event were: what a session is bounded by. Not a column of the result. */
public final class Span extends Aggregate {
  public Span() {
    super("span");
  }

  @Override
  public int words() {
    return 3;
  }

  @Override
  public String codec() {
    return "span";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    widen(slots, position.time, position.time);
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    if (from.words[at] != 0) {
      widen(into, from.words[at + 1], from.words[at + 2]);
    }
  }

  /** Makes it reach from the first to the last. */
  public void widen(Slots slots, long first, long last) {
    int at = word(slots);
    long[] words = slots.words;
    boolean empty = words[at] == 0;
    words[at] = 1;
    words[at + 1] = empty ? first : Math.min(words[at + 1], first);
    words[at + 2] = empty ? last : Math.max(words[at + 2], last);
  }

  public long first(Slots slots) {
    return slots.words[word(slots) + 1];
  }

  public long last(Slots slots) {
    return slots.words[word(slots) + 2];
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    out.writeByte((int) slots.words[at]);
    out.writeSigned(slots.words[at + 1]);
    out.writeUnsigned(slots.words[at + 2] - slots.words[at + 1]);
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int at = word(slots);
    slots.words[at] = in.readByte();
    slots.words[at + 1] = in.readSigned();
    slots.words[at + 2] = slots.words[at + 1] + in.readUnsigned();
  }

  @Override
  public Object result(Slots slots) {
    return null;
  }
}
