package headrace.step;

import headrace.aggregate.Position;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Late events as rows of the late port: the full row, and how late it was. */
final class LateWriter {
  private final Program program;
  private UnsafeProjection projection;
  private final GenericInternalRow lateBy = new GenericInternalRow(1);
  private final JoinedRow joined = new JoinedRow();

  LateWriter(Program program) {
    this.program = program;
  }

  Output write(UnsafeRow exit, Position position, long watermark, long end) {
    if (exit.isNullAt(Program.EXIT_ROW)) {
      throw new IllegalStateException("step '" + program.name() + "' was sent the row at " + Times.text(position.time)
          + " without its columns, and it is late at the watermark " + Times.text(watermark)
          + ": events and operator were given different watermarks");
    }
    lateBy.update(0, seconds(watermark, end));
    UnsafeRow row = exit.getStruct(Program.EXIT_ROW, program.row().size());
    if (projection == null) {
      projection = UnsafeProjection.create(program.late());
    }
    byte[] payload = projection.apply(joined.apply(row, lateBy)).copy().getBytes();
    return new Output(program.latePort(), position.time, position.source, position.partition, position.offset, payload);
  }

  private static double seconds(long watermark, long end) {
    long behind = watermark - end;
    boolean overflowed = ((watermark ^ end) & (watermark ^ behind)) < 0;
    return (overflowed ? (double) watermark - end : behind) / 1e6;
  }
}
