package headrace.step;

import static headrace.step.Interval.LEFT;
import static headrace.step.Interval.RIGHT;

import headrace.aggregate.Position;
import headrace.state.SlicedHeader;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Brings rows of a stream together with those of a table: the version that was valid at the row's own time, or the row that is there now.
 *
 * <p>As of event time a row waits until the watermark has passed it, in slices of time that are not written again; then it finds its
 * version in the history and leaves, once. One that comes late, but not later than the lateness, need not wait. With the row that is there
 * now, the changes of an epoch enter first, and its rows leave at once.
 */
final class LookupJoin implements Step, HeldRows.Leaving {
  private final Program program;
  private final Lookup lookup;
  private final LateWriter lateRows;
  private final History history;
  private final HeldRows held;
  private final MatchWriter writer;
  private final UnsafeRow key;
  private final Brought brought = new Brought();
  private final Brought leaving = new Brought();
  private final long[] gone = new long[2];
  private byte[] stored;
  private Context context;
  private SlicedHeader header;
  private long judged;
  /** The watermark of the epoch before: no row that waits is before it. */
  private long before;
  private List<Match> found;

  LookupJoin(Program program) {
    this.program = program;
    lookup = program.lookup();
    lateRows = LateWriter.of(program, LEFT);
    history = new History(program);
    held = new HeldRows(lookup.waiting(), brought);
    writer = new MatchWriter(program, lookup.columns());
    key = new UnsafeRow(program.key().size());
  }

  @Override
  public void open(Context opened) {
    context = opened;
    brought.clear();
    leaving.clear();
    found = new ArrayList<>();
    stored = context.cells().header();
    header = SlicedHeader.read(stored, lookup.slice(), program.name());
    before = header.watermark;
    judged = Math.max(before, context.judged());
    header.watermark = judged;
  }

  @Override
  public void onPartials(Position position, long slice, byte[] entries) {
    throw new IllegalStateException("step '" + program.name() + "' takes rows one by one, and was sent combined ones");
  }

  @Override
  public void onRow(int side, Position position, UnsafeRow exit) {
    long time = exit.getLong(Program.EXIT_TIME);
    position.at(time, position.source, position.partition, position.offset);
    if (side == LEFT && !lookup.current() && judged > time + program.lateness()) {
      context.late(1);
      if (lateRows != null) {
        context.emit(lateRows.write(exit, position, judged, time));
      }
      return;
    }
    context.used(1);
    JoinRow row = JoinRow.of(exit, position);
    row.key(key);
    if (!key.anyNull() || side == LEFT && lookup.left()) {
      brought.add(side, key, row);
    }
  }

  @Override
  public void onTick(long watermark, long processed) {
    header.watermark = Math.max(header.watermark, watermark);
  }

  @Override
  public void close() {
    brought.sort();
    history.enter(context.cells(), header, brought, before);
    gone[LEFT] = Math.max(header.gone[LEFT], until());
    gone[RIGHT] = header.gone[RIGHT];
    held.open(context.cells(), header, gone);
    held.leave(this);
    leaveAtOnce();
    held.hold(LEFT);
    leaving.sort();
    history.find(context.cells(), header, leaving, this::found);
    leaveAlone();
    history.forget(context.cells(), header);
    header.gone[LEFT] = gone[LEFT];
    header.store(context.cells(), stored);
    writer.give(found, context);
    brought.clear();
    leaving.clear();
    context = null;
  }

  /** Until when rows leave in this epoch: every version that they could see is there, as far as anybody knows. */
  private long until() {
    if (lookup.current()) {
      return Context.END;
    }
    boolean bounded = header.watermark != Context.NO_WATERMARK && header.watermark != Context.END;
    return bounded ? header.watermark - 1 : header.watermark;
  }

  @Override
  public void alone(int side, JoinRow row) {
    row.key(key);
    leaving.add(LEFT, key, row);
  }

  private void leaveAtOnce() {
    for (int each = 0; each < brought.keys(); each++) {
      for (int number = brought.from(each, LEFT); number < brought.to(each, LEFT); number++) {
        JoinRow row = brought.row(number);
        if (row.time > gone[LEFT]) {
          break;
        }
        alone(LEFT, row);
      }
    }
  }

  private void found(JoinRow row, JoinRow version) {
    row.matched = true;
    found.add(new Match(row.time, row, version));
  }

  private void leaveAlone() {
    if (!lookup.left()) {
      return;
    }
    for (int number = 0; number < leaving.size(); number++) {
      JoinRow row = leaving.row(number);
      if (!row.matched) {
        found.add(new Match(row.time, row, null));
      }
    }
  }
}
