package headrace.state;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a program remembers of one key group beside its cells: the watermark, and which windows are open.
 *
 * <p>Bytes: version, watermark (8), the slots (text), number of windows, and per window its start, keys, bytes and pages.
 * The slots name the accumulators that the cells hold, in order, so that cells written by another list are never misread.
 */
public final class Header {
  private static final int VERSION = 1;

  /** How many keys one open window has in this group, in how many bytes and pages. */
  public static final class Window {
    public long keys;
    public long bytes;
    public int pages;
  }

  public long watermark = Long.MIN_VALUE;
  public final TreeMap<Long, Window> windows = new TreeMap<>();
  private final String slots;

  public Header(String slots) {
    this.slots = slots;
  }

  /** The header in the bytes, or a new one when there are none; cells of other slots are refused. */
  public static Header read(byte[] bytes, String slots, String step) {
    Header header = new Header(slots);
    if (bytes == null) {
      return header;
    }
    ByteReader in = new ByteReader().over(bytes);
    int version = in.readByte();
    if (version != VERSION) {
      throw new IllegalStateException("the state of step '" + step + "' has the format " + version + ", this version of headrace reads "
          + VERSION + ": run it with the version that wrote the checkpoint");
    }
    header.watermark = in.readFixed();
    String written = new String(in.readBytes(), StandardCharsets.UTF_8);
    int count = in.readLength();
    for (int i = 0; i < count; i++) {
      Window window = new Window();
      long start = in.readFixed();
      window.keys = in.readUnsigned();
      window.bytes = in.readUnsigned();
      window.pages = in.readLength();
      header.windows.put(start, window);
    }
    if (count > 0 && !written.equals(slots)) {
      throw new IllegalStateException("the open windows of step '" + step + "' hold the aggregates [" + written + "], it now has [" + slots
          + "]: drain the pipeline before the change, or give the step a new name");
    }
    return header;
  }

  public byte[] write() {
    ByteWriter out = new ByteWriter(64 + 24 * windows.size());
    out.writeByte(VERSION);
    out.writeFixed(watermark);
    out.writeBytes(slots.getBytes(StandardCharsets.UTF_8));
    out.writeUnsigned(windows.size());
    for (Map.Entry<Long, Window> entry : windows.entrySet()) {
      Window window = entry.getValue();
      out.writeFixed(entry.getKey());
      out.writeUnsigned(window.keys);
      out.writeUnsigned(window.bytes);
      out.writeUnsigned(window.pages);
    }
    return out.toBytes();
  }
}
