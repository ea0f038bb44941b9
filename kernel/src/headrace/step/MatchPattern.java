package headrace.step;

import static headrace.step.Interval.LEFT;
import static headrace.step.Interval.RIGHT;

import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.pattern.Automaton;
import headrace.pattern.Event;
import headrace.pattern.Found;
import headrace.pattern.KeyMatches;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.SlicedHeader;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Finds a pattern in the rows of each key, in the order of their event times.
 *
 * <p>A row waits until the watermark has passed it, in slices of time that are not written again; a row of the epoch that the watermark
 * has passed already does not wait at all. Then the rows of a key go through its partial matches one after another. A key that has none
 * leaves nothing in the state. The state's one part besides the rows that wait is that of partial matches; a page of it is due when the
 * first of them runs out of time.
 */
final class MatchPattern implements Step, HeldRows.Leaving, Pages.Body {
  private static final long NUMBER = SlicedHeader.number(RIGHT, 0);
  private static final int EVENT_BYTES = 8;

  private final Program program;
  private final LateWriter lateRows;
  private final HeldRows held;
  private final EventRows rows;
  private final EarlierConditions earlier;
  private final FoundWriter writer;
  private final RejectedWriter rejected;
  private final Automaton automaton;
  private final KeyMatches matches;
  private final Pages pages = new Pages(this);
  private final PageSweep sweep = new PageSweep(pages);
  private final UnsafeRow key;
  private final UnsafeRow row;
  private final Brought brought = new Brought();
  private final Brought leaving;
  private final long[] gone = new long[2];
  private final List<Output> given = new ArrayList<>();
  private byte[] stored;
  private Context context;
  private SlicedHeader header;
  private long judged;
  /** The watermark of the epoch before: what is found is not older. */
  private long before;

  MatchPattern(Program program) {
    this.program = program;
    Matching matching = program.matching();
    lateRows = LateWriter.of(program, LEFT);
    held = new HeldRows(matching.waiting(), brought);
    rows = new EventRows(program);
    earlier = new EarlierConditions(matching, rows);
    writer = new FoundWriter(program, rows);
    rejected = new RejectedWriter(program, matching.topic());
    automaton = new Automaton(matching.pattern());
    matches = new KeyMatches(automaton, earlier);
    key = new UnsafeRow(program.key().size());
    row = new UnsafeRow(program.row().size());
    leaving = new Brought(TimeOrder.of(program.row(), matching.directions(), Matching.CONDITIONS + 1));
  }

  @Override
  public void open(Context opened) {
    context = opened;
    brought.clear();
    leaving.clear();
    given.clear();
    stored = context.cells().header();
    header = SlicedHeader.read(stored, program.matching().slice(), program.name());
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
    if (judged > time) {
      context.late(1);
      if (lateRows != null) {
        context.emit(lateRows.write(exit, position, judged, time));
      }
      return;
    }
    context.used(1);
    JoinRow came = JoinRow.of(exit, position);
    came.key(key);
    brought.add(LEFT, key, came);
  }

  @Override
  public void onTick(long watermark, long processed) {
    header.watermark = Math.max(header.watermark, watermark);
  }

  @Override
  public void close() {
    brought.sort();
    gone[LEFT] = Math.max(header.gone[LEFT], until());
    gone[RIGHT] = header.gone[RIGHT];
    held.open(context.cells(), header, gone);
    held.leave(this);
    leaveAtOnce();
    held.hold(LEFT);
    leaving.sort();
    match();
    header.gone[LEFT] = gone[LEFT];
    header.store(context.cells(), stored);
    given.sort(Comparator.comparingLong(Output::time));
    for (Output each : given) {
      context.emit(new Output(each.port(), each.time(), each.source(), each.partition(), context.number(), each.payload()));
    }
    given.clear();
    brought.clear();
    leaving.clear();
    context = null;
  }

  /** Until when rows leave in this epoch: nothing comes any more that is before them. */
  private long until() {
    boolean bounded = header.watermark != Context.NO_WATERMARK && header.watermark != Context.END;
    return bounded ? header.watermark - 1 : header.watermark;
  }

  @Override
  public void alone(int side, JoinRow due) {
    due.key(key);
    leaving.add(LEFT, key, due);
  }

  private void leaveAtOnce() {
    for (int each = 0; each < brought.keys(); each++) {
      for (int number = brought.from(each, LEFT); number < brought.to(each, LEFT); number++) {
        JoinRow due = brought.row(number);
        if (due.time > gone[LEFT]) {
          break;
        }
        alone(LEFT, due);
      }
    }
  }

  /** Takes the rows that leave through the partial matches of their keys; then time goes on for those that got none. */
  private void match() {
    SlicedHeader.Slice slice = header.slice(RIGHT, 0);
    if (leaving.keys() > 0) {
      pages.merge(context.cells(), NUMBER, slice.part, leaving.batch());
      slice.part.dirty.clear();
    }
    for (int number = 0; number < slice.part.pages; number++) {
      // At the end of time all is due.
      if (slice.part.due(number) <= header.watermark) {
        sweep.sweep(context.cells(), NUMBER, number, slice.part, this::look);
      }
    }
    if (slice.part.keys == 0) {
      header.slices.get(RIGHT).remove(0L);
    }
  }

  @Override
  public long begin(Partials batch, int entry, ByteWriter out) {
    return advance(null, batch, entry, out);
  }

  @Override
  public long merge(ByteReader body, Partials batch, int entry, ByteWriter out) {
    return advance(body, batch, entry, out);
  }

  private long advance(ByteReader body, Partials batch, int entry, ByteWriter out) {
    int from = leaving.from(entry, LEFT);
    int to = leaving.to(entry, LEFT);
    leaving.key(entry, key);
    open(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    if (body != null) {
      matches.read(body);
    }
    for (int number = from; number < to; number++) {
      JoinRow next = leaving.row(number);
      matches.take(new Event(next.time, conditions(next), next.bytes(), next.columnsAt(), next.length));
    }
    return over(out);
  }

  private long look(byte[] content, long address, int length, ByteReader body, ByteWriter out) {
    open(content, address, length);
    matches.read(body);
    return over(out);
  }

  private void open(Object base, long address, int length) {
    rows.open(base, address, length);
    earlier.open(this::reject);
    matches.open(found -> {
      byte[] payload = writer.write(found);
      if (payload != null) {
        given.add(new Output(writer.port(found), Math.max(found.time(), before), -program.id(), context.group(), 0, payload));
      }
    });
  }

  /** A row for which a condition on earlier events failed: it is told, and stays in its place. */
  private void reject(UnsafeRow of, String reason) {
    if (program.matching().fails()) {
      throw new IllegalStateException("step " + program.name() + " of topic " + program.matching().topic() + " failed: " + reason);
    }
    if (program.rejectedPort() != null) {
      byte[] payload = rejected.write(program.matching().shown(), of, reason);
      given.add(new Output(program.rejectedPort(), before, -program.id(), context.group(), 0, payload));
    }
  }

  private long over(ByteWriter out) {
    if (header.watermark == Context.END) {
      matches.end();
    } else {
      matches.expire(header.watermark);
    }
    context.givenUp(matches.givenUp());
    matches.write(out);
    return matches.due();
  }

  private long conditions(JoinRow of) {
    of.columns(row);
    return row.getLong(Matching.CONDITIONS);
  }

  @Override
  public long size(Partials batch, int entry) {
    long bytes = 0;
    for (int number = leaving.from(entry, LEFT); number < leaving.to(entry, LEFT); number++) {
      JoinRow each = leaving.row(number);
      bytes += automaton.mayBegin(conditions(each)) ? each.length + EVENT_BYTES : 0;
    }
    return bytes;
  }
}
