package headrace.state;

import java.util.Iterator;
import java.util.Map;

/**
 * The named state of one program in one key group: a header, and cells of bytes under bytes.
 *
 * <p>Machines see nothing else of where their state lives. What is inside the bytes is theirs, and starts with a codec version.
 */
public interface Cells {
  /** The header, or null before the first one was put. */
  byte[] header();

  void putHeader(byte[] value);

  void removeHeader();

  /** The cell under the key, or null. The array is the caller's. */
  byte[] get(byte[] key);

  void put(byte[] key, byte[] value);

  void remove(byte[] key);

  /** Every cell, in no order that may be relied upon. */
  Iterator<Map.Entry<byte[], byte[]>> scan();
}
