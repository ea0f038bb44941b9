package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;

/** A {@link Position} as three numbers among the slots of an aggregate: the time, source and partition, the offset. */
final class Place {
  static final int WORDS = 3;

  private Place() {}

  static long where(Position position) {
    return (long) position.source << 32 | position.partition & 0xFFFFFFFFL;
  }

  static void set(long[] words, int at, Position position) {
    words[at] = position.time;
    words[at + 1] = where(position);
    words[at + 2] = position.offset;
  }

  static int compare(Position position, long[] words, int at) {
    return compare(position.time, where(position), position.offset, words[at], words[at + 1], words[at + 2]);
  }

  static int compare(long[] left, int at, long[] right, int from) {
    return compare(left[at], left[at + 1], left[at + 2], right[from], right[from + 1], right[from + 2]);
  }

  static int compare(long time, long where, long offset, long otherTime, long otherWhere, long otherOffset) {
    int order = Long.compare(time, otherTime);
    if (order == 0) {
      order = Long.compare(where, otherWhere);
    }
    return order != 0 ? order : Long.compare(offset, otherOffset);
  }

  static void write(long[] words, int at, ByteWriter out) {
    out.writeSigned(words[at]);
    out.writeUnsigned(words[at + 1] >>> 32);
    out.writeUnsigned(words[at + 1] & 0xFFFFFFFFL);
    out.writeSigned(words[at + 2]);
  }

  static void read(long[] words, int at, ByteReader in) {
    words[at] = in.readSigned();
    words[at + 1] = in.readUnsigned() << 32;
    words[at + 1] |= in.readUnsigned();
    words[at + 2] = in.readSigned();
  }
}
