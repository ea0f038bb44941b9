package headrace.state;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a step that holds rows in slices of event time remembers of one key group beside its cells: how far time has come, which rows
 * have been let go, and the slices. A join has two sides of them; a step with one input uses the left one.
 *
 * <p>Bytes: version, watermark (8), until when rows of either side are gone (8 each), the length of a slice (8), and per side the number of
 * slices, and per slice its beginning (8), the time of its last row (8), and its part. The due of a page is the time of its first row that
 * still may have to leave.
 */
public final class SlicedHeader {
  private static final int VERSION = 1;
  private static final int SIDES = 2;

  /** The rows of one side that are of one stretch of time. */
  public static final class Slice {
    public final Header.Part part;
    public long last;

    private Slice(Header.Part part, long last) {
      this.part = part;
      this.last = last;
    }
  }

  public long watermark = Long.MIN_VALUE;
  /** Rows up to these times have been let go. */
  public final long[] gone = {Long.MIN_VALUE, Long.MIN_VALUE};
  /** By side, and by the time that they begin with. */
  public final List<TreeMap<Long, Slice>> slices = List.of(new TreeMap<>(), new TreeMap<>());
  private long length;

  private SlicedHeader(long length) {
    this.length = length;
  }

  /** The header in the bytes, or a new one when there are none; slices that are there keep their length. */
  public static SlicedHeader read(byte[] bytes, long length, String step) {
    SlicedHeader header = new SlicedHeader(length);
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
    for (int side = 0; side < SIDES; side++) {
      header.gone[side] = in.readFixed();
    }
    long written = in.readFixed();
    for (TreeMap<Long, Slice> ofSide : header.slices) {
      for (int left = in.readLength(); left > 0; left--) {
        long start = in.readFixed();
        long last = in.readFixed();
        ofSide.put(start, new Slice(Header.Part.read(in), last));
        header.length = written;
      }
    }
    return header;
  }

  /** How many microseconds a slice is long. */
  public long length() {
    return length;
  }

  /** When the slice of a time begins. */
  public long start(long time) {
    return Math.floorDiv(time, length) * length;
  }

  /** The slice that begins at this time, made if it is not there. */
  public Slice slice(int side, long start) {
    return slices.get(side).computeIfAbsent(start, absent -> new Slice(new Header.Part(), Long.MIN_VALUE));
  }

  /** The number under which the cells of a slice are kept. */
  public static long number(int side, long start) {
    return start * SIDES + side;
  }

  /** Puts the header where it was read from, if it has changed; a group that holds no rows keeps nothing. */
  public void store(Cells cells, byte[] read) {
    if (slices.stream().allMatch(Map::isEmpty)) {
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

  private byte[] write() {
    ByteWriter out = new ByteWriter(64);
    out.writeByte(VERSION);
    out.writeFixed(watermark);
    for (long until : gone) {
      out.writeFixed(until);
    }
    out.writeFixed(length);
    for (TreeMap<Long, Slice> ofSide : slices) {
      out.writeUnsigned(ofSide.size());
      for (Map.Entry<Long, Slice> entry : ofSide.entrySet()) {
        out.writeFixed(entry.getKey());
        out.writeFixed(entry.getValue().last);
        entry.getValue().part.write(out);
      }
    }
    return out.toBytes();
  }
}
