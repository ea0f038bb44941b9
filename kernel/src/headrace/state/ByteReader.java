package headrace.state;

import java.util.Arrays;
import org.apache.spark.unsafe.Platform;

/** Reads what {@link ByteWriter} wrote. Pointed at one array after another, so that reading allocates nothing. */
public final class ByteReader {
  private byte[] bytes = new byte[0];
  private int position;

  public ByteReader over(byte[] content) {
    bytes = content;
    position = 0;
    return this;
  }

  public boolean hasRemaining() {
    return position < bytes.length;
  }

  public byte[] array() {
    return bytes;
  }

  public int position() {
    return position;
  }

  public long address() {
    return Platform.BYTE_ARRAY_OFFSET + (long) position;
  }

  public void skip(int length) {
    if (length < 0 || length > bytes.length - position) {
      throw new IllegalStateException("a stored value ends early: " + length + " bytes wanted at " + position + " of " + bytes.length);
    }
    position += length;
  }

  public int readByte() {
    return bytes[position++] & 0xFF;
  }

  public long readUnsigned() {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = bytes[position++];
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  public int readLength() {
    return Math.toIntExact(readUnsigned());
  }

  public long readSigned() {
    long value = readUnsigned();
    return (value >>> 1) ^ -(value & 1);
  }

  public long readFixed() {
    long value = LittleEndian.get(bytes, position);
    position += 8;
    return value;
  }

  public double readDouble() {
    return Double.longBitsToDouble(readFixed());
  }

  public byte[] readBytes() {
    int length = readLength();
    int from = position;
    skip(length);
    return Arrays.copyOfRange(bytes, from, from + length);
  }
}
