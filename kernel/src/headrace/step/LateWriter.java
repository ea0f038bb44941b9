package headrace.step;

import headrace.aggregate.Position;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Late events of one input as rows of its late port: the full row, and how late it was. */
final class LateWriter {
  private final Program program;
  private final Side side;
  private UnsafeProjection projection;
  private final GenericInternalRow lateBy = new GenericInternalRow(1);
  private final JoinedRow row = new JoinedRow();
  private final JoinedRow joined = new JoinedRow();

  private LateWriter(Program program, Side side) {
    this.program = program;
    this.side = side;
  }

  /** The writer of an input, or null where nobody wants its late rows. */
  static LateWriter of(Program program, int side) {
    Side of = program.sides().get(side);
    return of.latePort() == null ? null : new LateWriter(program, of);
  }

  Output write(UnsafeRow exit, Position position, long watermark, long end) {
    if (exit.isNullAt(Program.EXIT_ROW)) {
      throw new IllegalStateException("step '" + program.name() + "' was sent the row at " + Times.text(position.time)
          + " without its columns, and it is late at the watermark " + Times.text(watermark)
          + ": events and operator were given different watermarks");
    }
    lateBy.update(0, seconds(watermark, end));
    UnsafeRow given = exit.getStruct(Program.EXIT_ROW, side.row().size());
    if (projection == null) {
      projection = side.full() == null ? UnsafeProjection.create(side.late()) : Columns.projection(side.late(), places());
    }
    if (side.full() == null) {
      joined.apply(given, lateBy);
    } else {
      joined.apply(row.apply(exit.getStruct(Program.EXIT_KEY, program.key().size()), given), lateBy);
    }
    byte[] payload = projection.apply(joined).copy().getBytes();
    return new Output(side.latePort(), position.time, position.source, position.partition, position.offset, payload);
  }

  /** Where the columns of a late row are: as the plan says, and how late it was behind them all. */
  private int[] places() {
    int[] places = Arrays.copyOf(side.full(), side.full().length + 1);
    places[places.length - 1] = program.key().size() + side.row().size();
    return places;
  }

  private static double seconds(long watermark, long end) {
    long behind = watermark - end;
    boolean overflowed = ((watermark ^ end) & (watermark ^ behind)) < 0;
    return (overflowed ? (double) watermark - end : behind) / 1e6;
  }
}
