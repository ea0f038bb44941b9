package headrace.step;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Matches as rows of the result port; a row that is missing is null in each of its columns. */
final class MatchWriter {
  private final Program program;
  private final int[] columns;
  private final UnsafeRow key;
  private final UnsafeRow[] rows = new UnsafeRow[2];
  private final GenericInternalRow[] missing = new GenericInternalRow[2];
  private final JoinedRow beside = new JoinedRow();
  private final JoinedRow all = new JoinedRow();
  private UnsafeProjection projection;

  /** {@code columns}: where each column of a result is, among those of the key, of the left row and of the right row. */
  MatchWriter(Program program, int[] columns) {
    this.program = program;
    this.columns = columns;
    key = new UnsafeRow(program.key().size());
    for (int side = 0; side < rows.length; side++) {
      int width = program.sides().get(side).row().size();
      rows[side] = new UnsafeRow(width);
      missing[side] = new GenericInternalRow(width);
    }
  }

  /** Gives the results in their order, each made only when it is asked for. */
  void give(List<Match> matches, Context context) {
    if (matches.isEmpty()) {
      return;
    }
    matches.sort(Match.ORDER);
    Iterator<Match> each = matches.iterator();
    context.emit(new Iterator<>() {
      @Override
      public boolean hasNext() {
        return each.hasNext();
      }

      @Override
      public Output next() {
        return write(each.next(), context.group(), context.number());
      }
    });
  }

  /** The result as an output: it has no position in a source, and is given one as panes are. */
  private Output write(Match match, int group, long number) {
    if (projection == null) {
      projection = Columns.projection(program.output(), columns);
    }
    (match.left() == null ? match.right() : match.left()).key(key);
    beside.apply(key, side(Interval.LEFT, match.left()));
    byte[] payload = projection.apply(all.apply(beside, side(Interval.RIGHT, match.right()))).copy().getBytes();
    return new Output(program.port(), match.time(), -program.id(), group, number, payload);
  }

  private InternalRow side(int side, JoinRow row) {
    if (row == null) {
      return missing[side];
    }
    row.columns(rows[side]);
    return rows[side];
  }
}
