package headrace.step;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * What an epoch changes of the results of one key of a join: those that were and those that are, brought together by the primary key of
 * the results.
 */
final class JoinedChanges {
  private static final int SIDES = 2;

  private final Program program;
  private final ChangeWriter changes;
  private final UnsafeRow[] rows = new UnsafeRow[SIDES];
  private final GenericInternalRow[] missing = new GenericInternalRow[SIDES];
  private final JoinedRow beside = new JoinedRow();
  private final JoinedRow all = new JoinedRow();
  private final UnsafeRow result;
  private final List<byte[]> were = new ArrayList<>();
  private final List<byte[]> are = new ArrayList<>();
  private UnsafeProjection columns;
  private UnsafeProjection primary;
  private UnsafeRow key;

  JoinedChanges(Program program) {
    this.program = program;
    changes = new ChangeWriter(program.output());
    result = new UnsafeRow(ChangeWriter.row(program.output()).size());
    for (int side = 0; side < SIDES; side++) {
      int width = program.sides().get(side).row().size();
      rows[side] = new UnsafeRow(width);
      missing[side] = new GenericInternalRow(width);
    }
  }

  /** From here on it is about this key. */
  void begin(UnsafeRow of) {
    key = of;
    were.clear();
    are.clear();
  }

  /** Results of each row with each: they are there now, or were there before. */
  void pairs(List<byte[]> left, List<byte[]> right, boolean now) {
    for (byte[] one : left) {
      for (byte[] other : right) {
        add(one, other, now);
      }
    }
  }

  /** A result of two rows, or of one where the other is null. */
  void add(byte[] left, byte[] right, boolean now) {
    if (columns == null) {
      columns = Columns.projection(ChangeWriter.row(program.output()), program.table().joining().columns());
    }
    beside.apply(key, side(0, left));
    (now ? are : were).add(columns.apply(all.apply(beside, side(1, right))).copy().getBytes());
  }

  private InternalRow side(int side, byte[] row) {
    if (row == null) {
      return missing[side];
    }
    rows[side].pointTo(row, row.length);
    return rows[side];
  }

  /** Emits the changes: one for each result that came, went or is another now. */
  void give(Context context, long time) {
    if (were.isEmpty() || are.isEmpty()) {
      // Each result is by itself, and no other has its key.
      were.forEach(row -> emit(context, time, row, null));
      are.forEach(row -> emit(context, time, null, row));
      return;
    }
    Map<ByteBuffer, byte[]> gone = new LinkedHashMap<>();
    were.forEach(row -> gone.put(primary(row), row));
    are.forEach(row -> emit(context, time, gone.remove(primary(row)), row));
    gone.values().forEach(row -> emit(context, time, row, null));
  }

  private ByteBuffer primary(byte[] row) {
    if (primary == null) {
      primary = Columns.picked(ChangeWriter.row(program.output()), program.table().joining().primary());
    }
    result.pointTo(row, row.length);
    return ByteBuffer.wrap(primary.apply(result).copy().getBytes());
  }

  private void emit(Context context, long time, byte[] before, byte[] after) {
    byte[] change = changes.change(before, after);
    if (change != null) {
      context.emit(new Output(program.port(), time, -program.id(), context.group(), context.number(), change));
    }
  }
}
