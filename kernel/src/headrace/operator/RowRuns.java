package headrace.operator;

import headrace.aggregate.Position;
import headrace.state.ByteWriter;
import headrace.step.Program;
import headrace.step.RowRun;
import java.util.Collection;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** The rows of one of a program's inputs as operator input: few runs of many rows, each run of one group and of bounded size. */
final class RowRuns {
  private static final int BOUND = 64 << 10;
  private static final long BOUND_OF_ALL = 32L << 20;
  private static final int FIRST = 1 << 10;

  private final Program program;
  private final int kind;
  private final ByteWriter[] runs;
  private final RowRun run = new RowRun();
  private long bytes;

  RowRuns(Program program, int side) {
    this.program = program;
    kind = side == 0 ? Inputs.ROWS : Inputs.RIGHT;
    runs = new ByteWriter[program.groups().length];
  }

  /** Takes a row of the slot's group; runs that are full are added to {@code full}. */
  void add(int slot, Position position, UnsafeRow exit, boolean whole, Collection<Row> full) {
    ByteWriter out = runs[slot];
    if (out == null) {
      out = new ByteWriter(FIRST);
      runs[slot] = out;
    }
    int before = out.size();
    if (before == 0) {
      RowRun.begin(out);
    }
    run.add(out, position, exit, whole);
    bytes += out.size() - before;
    if (out.size() >= BOUND) {
      flush(slot, full);
    } else if (bytes >= BOUND_OF_ALL) {
      flush(full);
    }
  }

  /** Adds what there is to {@code full}. */
  void flush(Collection<Row> full) {
    for (int slot = 0; slot < runs.length; slot++) {
      if (runs[slot] != null && runs[slot].size() > 0) {
        flush(slot, full);
      }
    }
  }

  private void flush(int slot, Collection<Row> full) {
    bytes -= runs[slot].size();
    full.add(RowFactory.create(program.id(), program.groups()[slot], kind, 0, 0, 0L, 0L, runs[slot].toBytes()));
    runs[slot].clear();
  }
}
