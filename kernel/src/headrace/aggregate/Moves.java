package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** How many rows came or were taken back, and when the latest of them was. Not a column of the result, and nothing that is kept. */
public final class Moves extends Aggregate {
  public Moves() {
    super("moves");
  }

  @Override
  public int words() {
    return 2;
  }

  @Override
  public String codec() {
    return "moves";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    plus(slots, 1, position.time);
  }

  @Override
  public boolean retracts() {
    return true;
  }

  @Override
  public void retract(Slots slots, UnsafeRow inputs, Position position) {
    plus(slots, 1, position.time);
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    if (from.words[at] != 0) {
      plus(into, from.words[at], from.words[at + 1]);
    }
  }

  private void plus(Slots slots, long count, long time) {
    int at = word(slots);
    long[] words = slots.words;
    words[at + 1] = words[at] == 0 ? time : Math.max(words[at + 1], time);
    words[at] += count;
  }

  public long count(Slots slots) {
    return slots.words[word(slots)];
  }

  public long latest(Slots slots) {
    return slots.words[word(slots) + 1];
  }

  public void forget(Slots slots) {
    slots.words[word(slots)] = 0;
    slots.words[word(slots) + 1] = 0;
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    out.writeUnsigned(slots.words[at]);
    if (slots.words[at] != 0) {
      out.writeSigned(slots.words[at + 1]);
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int at = word(slots);
    slots.words[at] = in.readUnsigned();
    slots.words[at + 1] = slots.words[at] == 0 ? 0 : in.readSigned();
  }

  @Override
  public Object result(Slots slots) {
    return null;
  }
}
