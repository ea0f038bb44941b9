package headrace.state;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/** Cells in memory, for machines that are driven by hand. */
public final class MemoryCells implements Cells {
  private final TreeMap<byte[], byte[]> cells = new TreeMap<>(Arrays::compareUnsigned);
  private byte[] header;

  @Override
  public byte[] header() {
    return header == null ? null : header.clone();
  }

  @Override
  public void putHeader(byte[] value) {
    header = value.clone();
  }

  @Override
  public void removeHeader() {
    header = null;
  }

  @Override
  public byte[] get(byte[] key) {
    byte[] value = cells.get(key);
    return value == null ? null : value.clone();
  }

  @Override
  public void put(byte[] key, byte[] value) {
    cells.put(key.clone(), value.clone());
  }

  @Override
  public void remove(byte[] key) {
    cells.remove(key);
  }

  @Override
  public Iterator<Map.Entry<byte[], byte[]>> scan() {
    return new ArrayList<Map.Entry<byte[], byte[]>>(cells.entrySet()).iterator();
  }

  public int size() {
    return cells.size();
  }

  /** Whether nothing at all is kept. */
  public boolean isEmpty() {
    return header == null && cells.isEmpty();
  }

  @Override
  public String toString() {
    return (header == null ? "no header" : "a header of " + header.length + " bytes") + ", " + cells.size() + " cells";
  }
}
