package headrace.step;

import static headrace.step.Interval.LEFT;
import static headrace.step.Interval.RIGHT;

import headrace.aggregate.Position;
import headrace.state.SlicedHeader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Brings the rows of two streams together that have one key, and times not too far apart.
 *
 * <p>What an epoch brings meets itself, then what is held of the other side; then it is held itself as long as a row that is not late can
 * match it. A row that leaves unmatched does so in the epoch whose watermark says that nothing can match it any more.
 */
public final class IntervalJoin implements Step, HeldRows.Leaving {
  private static final int SIDES = 2;

  private final Program program;
  private final Interval interval;
  private final LateWriter[] lateRows = new LateWriter[SIDES];
  private final HeldRows held;
  private final MatchWriter writer;
  private final UnsafeRow key;
  private final Brought brought = new Brought();
  private final long[] gone = new long[SIDES];
  private byte[] stored;
  private Context context;
  private SlicedHeader header;
  private long judged;
  private List<Match> matches;
  /** From each row on, the first left row that nothing has matched yet; as far as was found. */
  private int[] unmatched;

  public IntervalJoin(Program program) {
    this.program = program;
    interval = program.interval();
    held = new HeldRows(program.interval(), brought);
    writer = new MatchWriter(program, interval.columns());
    key = new UnsafeRow(program.key().size());
    for (int side = 0; side < SIDES; side++) {
      lateRows[side] = LateWriter.of(program, side);
    }
  }

  @Override
  public void open(Context opened) {
    context = opened;
    brought.clear();
    matches = new ArrayList<>();
    stored = context.cells().header();
    header = SlicedHeader.read(stored, interval.slice(), program.name());
    judged = Math.max(header.watermark, context.judged());
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
    if (judged > time + program.lateness()) {
      context.late(1);
      if (lateRows[side] != null) {
        context.emit(lateRows[side].write(exit, position, judged, time));
      }
      return;
    }
    context.used(1);
    JoinRow row = JoinRow.of(exit, position);
    row.key(key);
    if (interval.how().givesUnmatched(side) || !key.anyNull()) {
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
    if (!interval.how().pairs) {
      unmatched = new int[brought.size() + 1];
      Arrays.setAll(unmatched, i -> i);
    }
    for (int side = 0; side < SIDES; side++) {
      gone[side] = Math.max(header.gone[side], until(side));
    }
    meetEachOther();
    held.open(context.cells(), header, gone);
    held.meet(this);
    leaveAtOnce();
    held.leave(this);
    held.hold();
    System.arraycopy(gone, 0, header.gone, 0, SIDES);
    header.store(context.cells(), stored);
    writer.give(matches, context);
    context = null;
  }

  /** Until when rows of a side can be let go: no row that comes in time can match them any more. */
  private long until(int side) {
    long watermark = header.watermark;
    boolean bounded = watermark != Context.NO_WATERMARK && watermark != Context.END;
    return bounded ? watermark - interval.to(side) - program.lateness() - 1 : watermark;
  }

  private void meetEachOther() {
    for (int each = 0; each < brought.keys(); each++) {
      int end = brought.to(each, RIGHT);
      int first = brought.from(each, RIGHT);
      if (first == end || brought.isUnknown(each)) {
        continue;
      }
      for (int left = brought.from(each, LEFT); left < brought.to(each, LEFT) && first < end; left++) {
        JoinRow row = brought.row(left);
        while (first < end && brought.row(first).time < row.time + interval.lower()) {
          first++;
        }
        meet(LEFT, row, first, end);
      }
    }
  }

  /**
   * Lets a row of a side meet the rows of the other one in a stretch of those that were brought, of which the first is not before its
   * interval; tells whether there was any.
   */
  boolean meet(int side, JoinRow row, int first, int end) {
    long last = row.time + interval.to(side);
    if (first == end || brought.row(first).time > last) {
      return false;
    }
    if (interval.how().pairs) {
      for (int other = first; other < end && brought.row(other).time <= last; other++) {
        JoinRow met = brought.row(other);
        met.matched = true;
        matches.add(side == LEFT ? Match.of(row, met) : Match.of(met, row));
      }
    } else if (side == LEFT) {
      found(row);
    } else {
      // Those that were matched before are passed over: many rows of a key may meet many others.
      for (int left = next(first); left < end && brought.row(left).time <= last; left = next(left)) {
        found(brought.row(left));
        unmatched[left] = left + 1;
      }
    }
    row.matched = true;
    return true;
  }

  /** Of a left row it only counts whether there is a match. */
  private void found(JoinRow left) {
    if (!left.matched && interval.how() == Interval.How.SEMI) {
      alone(LEFT, left);
    }
    left.matched = true;
  }

  private int next(int row) {
    int found = row;
    while (unmatched[found] != found) {
      found = unmatched[found];
    }
    for (int at = row; at != found; ) {
      int after = unmatched[at];
      unmatched[at] = found;
      at = after;
    }
    return found;
  }

  @Override
  public void alone(int side, JoinRow row) {
    matches.add(new Match(interval.timeAlone(side, row.time), side == LEFT ? row : null, side == LEFT ? null : row));
  }

  /** Rows that need not be held have met all that they can meet. */
  private void leaveAtOnce() {
    for (int side = 0; side < SIDES; side++) {
      if (!interval.how().givesUnmatched(side)) {
        continue;
      }
      for (int each = 0; each < brought.keys(); each++) {
        for (int number = brought.from(each, side); number < brought.to(each, side); number++) {
          JoinRow row = brought.row(number);
          if (row.time > gone[side]) {
            break;
          }
          if (!row.matched) {
            alone(side, row);
          }
        }
      }
    }
  }
}
