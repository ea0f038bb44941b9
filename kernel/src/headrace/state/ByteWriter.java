package headrace.state;

import java.util.Arrays;
import org.apache.spark.unsafe.Platform;

/** A growing byte buffer with the number formats of everything the kernel stores and ships. Reused, not allocated per entry. */
public final class ByteWriter {
  private byte[] bytes;
  private int size;

  public ByteWriter(int capacity) {
    bytes = new byte[Math.max(16, capacity)];
  }

  public int size() {
    return size;
  }

  /** What is written to, until it has to grow. */
  public byte[] array() {
    return bytes;
  }

  public void clear() {
    size = 0;
  }

  /** Forgets what was written after the first so many bytes. */
  public void cut(int length) {
    size = length;
  }

  public byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }

  private void reserve(int more) {
    long needed = (long) size + more;
    if (needed > bytes.length) {
      if (needed > Integer.MAX_VALUE - 16) {
        throw new IllegalStateException("a buffer of " + needed + " bytes is more than an array can hold");
      }
      bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 16, Math.max(needed, 2L * bytes.length)));
    }
  }

  public void writeByte(int value) {
    reserve(1);
    bytes[size++] = (byte) value;
  }

  /** An unsigned number in groups of seven bits, the least first; small numbers take one byte. */
  public void writeUnsigned(long value) {
    reserve(10);
    while ((value & ~0x7FL) != 0) {
      bytes[size++] = (byte) (value | 0x80);
      value >>>= 7;
    }
    bytes[size++] = (byte) value;
  }

  /** A signed number, zigzagged so that small negatives are short too. */
  public void writeSigned(long value) {
    writeUnsigned((value << 1) ^ (value >> 63));
  }

  /** Eight bytes, little-endian on every machine. */
  public void writeFixed(long value) {
    reserve(8);
    LittleEndian.put(bytes, size, value);
    size += 8;
  }

  public void writeDouble(double value) {
    writeFixed(Double.doubleToRawLongBits(value));
  }

  public void writeRaw(Object base, long offset, int length) {
    reserve(length);
    Platform.copyMemory(base, offset, bytes, Platform.BYTE_ARRAY_OFFSET + size, length);
    size += length;
  }

  public void writeRaw(byte[] from, int position, int length) {
    reserve(length);
    System.arraycopy(from, position, bytes, size, length);
    size += length;
  }

  /** Bytes after their length. */
  public void writeBytes(byte[] value) {
    writeUnsigned(value.length);
    writeRaw(value, 0, value.length);
  }

  /** Leaves one byte for a length that {@link #endLength} fills in; what follows counts. */
  public int beginLength() {
    writeByte(0);
    return size;
  }

  /** Writes the length of what was written since {@link #beginLength}, moving it only when one byte is not enough. */
  public void endLength(int begin) {
    int length = size - begin;
    if (length < 0x80) {
      bytes[begin - 1] = (byte) length;
      return;
    }
    int more = (31 - Integer.numberOfLeadingZeros(length)) / 7;
    reserve(more);
    System.arraycopy(bytes, begin, bytes, begin + more, length);
    int end = size + more;
    size = begin - 1;
    writeUnsigned(length);
    size = end;
  }
}
