package headrace.step;

import headrace.aggregate.Position;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Makes one change again of what a join gave in two places: a row that moves to another key of the join leaves at the one and comes at the
 * other, which may be in different tasks. It only looks at one epoch, and remembers nothing.
 */
final class Netted implements Step {
  /** What is known of a primary key: the row that was and the row that is. */
  private static final class Seen {
    private byte[] before;
    private byte[] after;
    private long time = Long.MIN_VALUE;
  }

  private final Program program;
  private final ChangeWriter changes;
  private final int columns;
  private final Map<ByteBuffer, Seen> seen = new LinkedHashMap<>();
  private Context context;

  Netted(Program program) {
    this.program = program;
    changes = new ChangeWriter(program.output());
    columns = ChangeWriter.row(program.output()).size();
  }

  @Override
  public void open(Context opened) {
    context = opened;
    seen.clear();
  }

  @Override
  public void onPartials(Position position, long slice, byte[] entries) {
    throw new IllegalStateException("step '" + program.name() + "' takes rows one by one, and was sent combined ones");
  }

  @Override
  public void onRow(int side, Position position, UnsafeRow exit) {
    context.used(1);
    byte[] key = exit.getStruct(Program.EXIT_KEY, program.key().size()).copy().getBytes();
    UnsafeRow change = exit.getStruct(Program.EXIT_ROW, program.row().size());
    Seen known = seen.computeIfAbsent(ByteBuffer.wrap(key), absent -> new Seen());
    known.before = only(known.before, change, TableSpec.BEFORE);
    known.after = only(known.after, change, TableSpec.AFTER);
    known.time = Math.max(known.time, exit.getLong(Program.EXIT_TIME));
  }

  private byte[] only(byte[] known, UnsafeRow change, int side) {
    if (change.isNullAt(side)) {
      return known;
    }
    if (known != null) {
      throw new IllegalStateException("step '" + program.name() + "': two rows of the join have one primary key");
    }
    return change.getStruct(side, columns).copy().getBytes();
  }

  /** What a table is does not depend on time. */
  @Override
  public void onTick(long watermark, long processed) {}

  @Override
  public void close() {
    for (Seen each : seen.values()) {
      byte[] change = changes.change(each.before, each.after);
      if (change != null) {
        context.emit(new Output(program.port(), each.time, -program.id(), context.group(), context.number(), change));
      }
    }
    seen.clear();
    context = null;
  }
}
