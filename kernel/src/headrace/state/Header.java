package headrace.state;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a program remembers of one key group beside its cells: how far time has come, and what is open.
 *
 * <p>Bytes: version, watermark (8), processing time of the last tick (8), the slots (text), number of parts, and per part its number (8),
 * keys, bytes, pages, whether it was shown, a bit for each page with rows that no pane has shown, and when each page is due. A part is a window, or a slice of
 * one. The slots name what the cells hold, in order, so that cells written by another list are never misread.
 */
public final class Header {
  private static final int VERSION = 1;

  /** How many keys one open window or slice has in this group, in how many bytes and pages. */
  public static final class Part {
    public long keys;
    public long bytes;
    public int pages;
    /** Whether all keys that were there gave their pane when the watermark reached the end. */
    public boolean shown;
    /** Pages with keys that have rows which no pane has shown. */
    public BitSet dirty = new BitSet();
    private long[] due = {};

    public static Part read(ByteReader in) {
      Part part = new Part();
      part.keys = in.readUnsigned();
      part.bytes = in.readUnsigned();
      part.pages = in.readLength();
      part.shown = in.readByte() != 0;
      part.dirty = BitSet.valueOf(in.readBytes());
      part.due = new long[in.readLength()];
      for (int page = 0; page < part.due.length; page++) {
        part.due[page] = in.readFixed();
      }
      return part;
    }

    public void write(ByteWriter out) {
      out.writeUnsigned(keys);
      out.writeUnsigned(bytes);
      out.writeUnsigned(pages);
      out.writeByte(shown ? 1 : 0);
      out.writeBytes(dirty.toByteArray());
      out.writeUnsigned(due.length);
      for (long watermark : due) {
        out.writeFixed(watermark);
      }
    }

    /** The watermark from which on the page wants to be looked at; it may be looked at in vain, but never too late. */
    public long due(int page) {
      return page < due.length ? due[page] : Long.MAX_VALUE;
    }

    /** The page wants to be looked at from this watermark on. */
    public void due(int page, long watermark) {
      if (page >= due.length) {
        if (watermark == Long.MAX_VALUE) {
          return;
        }
        int before = due.length;
        due = Arrays.copyOf(due, Math.max(page + 1, pages));
        Arrays.fill(due, before, due.length, Long.MAX_VALUE);
      }
      due[page] = watermark;
    }
  }

  public long watermark = Long.MIN_VALUE;
  public long processed = Long.MIN_VALUE;
  public final TreeMap<Long, Part> parts = new TreeMap<>();
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
    header.processed = in.readFixed();
    String written = new String(in.readBytes(), StandardCharsets.UTF_8);
    int count = in.readLength();
    for (int i = 0; i < count; i++) {
      long number = in.readFixed();
      header.parts.put(number, Part.read(in));
    }
    if (count > 0 && !written.equals(slots)) {
      throw new IllegalStateException("the open windows of step '" + step + "' hold the aggregates [" + written + "], it now has [" + slots
          + "]: drain the pipeline before the change, or give the step a new name");
    }
    return header;
  }

  /** The part of this number, made if it is not there. */
  public Part part(long number) {
    return parts.computeIfAbsent(number, absent -> new Part());
  }

  /**
   * Puts the header where it was read from, if it has changed.
   *
   * <p>A group in which nothing is open keeps nothing, not even how far time has come: its epochs are told that. So keys that do not come
   * any more leave no trace, and a step without open windows has no state.
   */
  public void store(Cells cells, byte[] read) {
    if (parts.isEmpty()) {
      if (read != null) {
        cells.removeHeader();
      }
      return;
    }
    byte[] written = write();
    if (!Arrays.equals(written, read)) {
      cells.putHeader(written);
    }
  }

  byte[] write() {
    ByteWriter out = new ByteWriter(64 + 32 * parts.size());
    out.writeByte(VERSION);
    out.writeFixed(watermark);
    out.writeFixed(processed);
    out.writeBytes(slots.getBytes(StandardCharsets.UTF_8));
    out.writeUnsigned(parts.size());
    for (Map.Entry<Long, Part> entry : parts.entrySet()) {
      out.writeFixed(entry.getKey());
      entry.getValue().write(out);
    }
    return out.toBytes();
  }
}
