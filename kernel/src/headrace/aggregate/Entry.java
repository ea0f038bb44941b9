package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.List;
import java.util.function.Consumer;

/** A kept value and where its row came from; entries go by that place. */
record Entry(long time, long where, long offset, Object value) implements Comparable<Entry> {

  static Entry at(Position position, Object value) {
    return new Entry(position.time, Place.where(position), position.offset, value);
  }

  @Override
  public int compareTo(Entry other) {
    return Place.compare(time, where, offset, other.time, other.where, other.offset);
  }

  /** Writes entries that are in order: times and offsets as steps from the one before, which are short. */
  static void write(List<Entry> entries, Held held, ByteWriter out) {
    long time = 0;
    long offset = 0;
    for (Entry entry : entries) {
      out.writeSigned(entry.time - time);
      out.writeUnsigned(entry.where >>> 32);
      out.writeUnsigned(entry.where & 0xFFFFFFFFL);
      out.writeSigned(entry.offset - offset);
      held.write(entry.value, out);
      time = entry.time;
      offset = entry.offset;
    }
  }

  static void read(int size, Held held, ByteReader in, Consumer<Entry> to) {
    long time = 0;
    long offset = 0;
    for (int i = 0; i < size; i++) {
      time += in.readSigned();
      long where = in.readUnsigned() << 32;
      where |= in.readUnsigned();
      offset += in.readSigned();
      to.accept(new Entry(time, where, offset, held.read(in)));
    }
  }
}
