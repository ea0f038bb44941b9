package headrace.step;

import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/**
 * Rows of one group, one after another in bytes: a row by itself costs Spark's shuffle and its sort more than it costs the step.
 *
 * <p>Bytes: version (8), and per row its place (8), its offset (8), the length of its exit (8) and the exit. All are words, so that an exit
 * can be read where it lies.
 */
public final class RowRun {
  private static final int VERSION = 1;

  private final UnsafeRow cut = new UnsafeRow(Program.EXIT_FIELDS);

  public static void begin(ByteWriter out) {
    out.writeFixed(VERSION);
  }

  /** Appends a row; one that is not {@code whole} without its {@link Program#EXIT_ROW}, which nobody will ask for. */
  public void add(ByteWriter out, Position position, UnsafeRow exit, boolean whole) {
    out.writeFixed(Partials.place(position.source, position.partition));
    out.writeFixed(position.offset);
    int length = whole ? exit.getSizeInBytes() : withoutRow(exit);
    out.writeFixed(length);
    int at = out.size();
    out.writeRaw(exit.getBaseObject(), exit.getBaseOffset(), length);
    if (length < exit.getSizeInBytes()) {
      cut.pointTo(out.array(), Platform.BYTE_ARRAY_OFFSET + (long) at, length);
      cut.setNullAt(Program.EXIT_ROW);
    }
  }

  /** How long the exit is without its last column: that column's bytes are the last, too. */
  private static int withoutRow(UnsafeRow exit) {
    int size = exit.getSizeInBytes();
    if (exit.isNullAt(Program.EXIT_ROW)) {
      return size;
    }
    long where = exit.getLong(Program.EXIT_ROW);
    int from = (int) (where >>> 32);
    return from + (int) where == size ? from : size;
  }

  /** A reader at the first row of a run. */
  static ByteReader open(byte[] run) {
    ByteReader in = new ByteReader().over(run);
    long version = in.readFixed();
    if (version != VERSION) {
      throw new IllegalStateException("rows in format " + version + ", this version of headrace reads " + VERSION);
    }
    return in;
  }
}
