package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;

/**
 * First and last value by (event time, source, partition, offset), whatever the order of arrival. A null counts as a value.
 *
 * <p>Numbers kept: none, null or value; time; source and partition; offset; the value, when it fits one number. Else the value is an
 * object: the bytes of a row of one field.
 */
final class Edge extends Aggregate {
  private static final int NULL = 1;
  private static final int VALUE = 2;
  private final boolean last;
  private final int ordinal;
  private final DataType type;
  private final Fixed kind;
  private final UnsafeProjection single;

  Edge(String name, boolean last, int ordinal, DataType type) {
    super(name);
    this.last = last;
    this.ordinal = ordinal;
    this.type = type;
    this.kind = Fixed.of(type);
    this.single = kind != null ? null : UnsafeProjection.create(new BoundReference(ordinal, type, true));
  }

  @Override
  public int words() {
    return 5;
  }

  @Override
  public int objects() {
    return kind == null ? 1 : 0;
  }

  @Override
  public String codec() {
    return (last ? "last(" : "first(") + type.catalogString() + ")";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    int at = word(slots);
    long[] words = slots.words;
    long where = (long) position.source << 32 | position.partition & 0xFFFFFFFFL;
    if (!wins(words, at, position.time, where, position.offset)) {
      return;
    }
    boolean absent = inputs.isNullAt(ordinal);
    words[at] = absent ? NULL : VALUE;
    words[at + 1] = position.time;
    words[at + 2] = where;
    words[at + 3] = position.offset;
    if (kind != null) {
      words[at + 4] = absent ? 0 : kind.read(inputs, ordinal);
    } else {
      slots.objects[object(slots)] = absent ? null : single.apply(inputs).copy().getBytes();
    }
  }

  private boolean wins(long[] words, int at, long time, long where, long offset) {
    if (words[at] == 0) {
      return true;
    }
    int order = Long.compare(time, words[at + 1]);
    if (order == 0) {
      order = Long.compare(where, words[at + 2]);
    }
    if (order == 0) {
      order = Long.compare(offset, words[at + 3]);
    }
    return last ? order > 0 : order < 0;
  }

  @Override
  public void merge(Slots into, Slots from) {
    int at = word(from);
    long[] words = from.words;
    if (words[at] != 0 && wins(into.words, word(into), words[at + 1], words[at + 2], words[at + 3])) {
      System.arraycopy(words, at, into.words, word(into), words());
      if (kind == null) {
        into.objects[object(into)] = from.objects[object(from)];
      }
    }
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    int at = word(slots);
    long[] words = slots.words;
    out.writeByte((int) words[at]);
    if (words[at] == 0) {
      return;
    }
    out.writeSigned(words[at + 1]);
    out.writeUnsigned(words[at + 2] >>> 32);
    out.writeUnsigned(words[at + 2] & 0xFFFFFFFFL);
    out.writeSigned(words[at + 3]);
    if (words[at] == VALUE) {
      if (kind != null) {
        out.writeFixed(words[at + 4]);
      } else {
        out.writeBytes((byte[]) slots.objects[object(slots)]);
      }
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int at = word(slots);
    long[] words = slots.words;
    words[at] = in.readByte();
    if (words[at] == 0) {
      return;
    }
    words[at + 1] = in.readSigned();
    words[at + 2] = in.readUnsigned() << 32;
    words[at + 2] |= in.readUnsigned();
    words[at + 3] = in.readSigned();
    if (words[at] == VALUE) {
      if (kind != null) {
        words[at + 4] = in.readFixed();
      } else {
        slots.objects[object(slots)] = in.readBytes();
      }
    }
  }

  @Override
  public Object result(Slots slots) {
    int at = word(slots);
    if (slots.words[at] != VALUE) {
      return null;
    }
    if (kind != null) {
      return kind.value(slots.words[at + 4], type);
    }
    byte[] bytes = (byte[]) slots.objects[object(slots)];
    UnsafeRow row = new UnsafeRow(1);
    row.pointTo(bytes, bytes.length);
    return row.get(0, type);
  }
}
