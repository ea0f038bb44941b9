package headrace.operator;

import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.clock.EpochWatermarks;
import headrace.state.ByteWriter;
import headrace.step.HotKeys;
import headrace.step.Ledger;
import headrace.step.Program;
import headrace.step.TableSpec;
import headrace.window.SessionWindow;
import headrace.window.SlidingWindow;
import headrace.window.StatedWindows;
import headrace.window.Windows;
import java.util.Collection;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * What the events of one program become on the map side: combined per slice and key where the step only adds them up, and sent one by one
 * where they may be late, where the step wants each by itself, or where hardly two of them are of one slice and key. Those of a hot key
 * are combined even then: one task has them all in the end.
 */
final class Combiner {
  private static final int EXPECTED = 64;
  private static final int BOUND_ENTRIES = 200_000;
  private static final long BOUND_BYTES = 64L << 20;
  /** After so many events it is known whether they meet often enough: looked up in vain, each costs more than a row of a run does. */
  private static final int SAMPLE = 16_384;
  private static final double WORTH = 0.75;

  private final Program program;
  private final Partials partials;
  private final RowRuns[] rows;
  private final long judged;
  private final Ledger ledger = new Ledger();
  private final KeyText text;
  private final HotKeys hot;
  private final UnsafeRow exit;
  private final UnsafeRow key;
  private final UnsafeRow inputs;
  private boolean known;
  private long slice;
  private boolean late;
  private int combined;
  private boolean worth = true;
  /** Which keys are worth it where most are not, see {@link HotKeys#marks}. */
  private long marks;

  /** For the epoch of this task. */
  Combiner(Program program) {
    this(program, EpochWatermarks.of(program.id()));
  }

  Combiner(Program program, long judged) {
    this.program = program;
    this.judged = judged;
    partials = program.combines() ? new Partials(program.layout(), EXPECTED) : null;
    rows = new RowRuns[program.sides().size()];
    for (int side = 0; side < rows.length; side++) {
      rows[side] = new RowRuns(program, side);
    }
    text = KeyText.of(program);
    hot = text == null ? null : new HotKeys();
    exit = new UnsafeRow(program.isOfGroups() ? TableSpec.EXIT_FIELDS : Program.EXIT_FIELDS);
    key = new UnsafeRow(program.key().size());
    inputs = new UnsafeRow(program.inputs().size());
  }

  Ledger ledger() {
    return ledger;
  }

  /** What is told of the rows that came, once all have. */
  byte[] line() {
    if (hot != null) {
      hot.tell((bytes, rows) -> ledger.hot(text.json(bytes), rows));
    }
    return ledger.write(program.id());
  }

  boolean full() {
    return partials != null && (partials.size() >= BOUND_ENTRIES || partials.bytes() >= BOUND_BYTES);
  }

  /** What was combined; taken out once it is read. */
  Blobs blobs(ByteWriter writer) {
    return partials == null ? null : new Blobs(program, partials, writer);
  }

  void clear() {
    if (partials != null) {
      partials.clear();
    }
  }

  /** Adds to {@code full} what waits for more rows of its group. */
  void flush(Collection<Row> full) {
    for (RowRuns side : rows) {
      side.flush(full);
    }
  }

  /** Takes an event of an input; what has to go by itself is added to {@code full} once there is enough of it. */
  void take(int side, Object base, long address, int size, Position position, Collection<Row> full) {
    ledger.in++;
    exit.pointTo(base, address, size);
    if (exit.isNullAt(Program.EXIT_TIME)) {
      throw new IllegalStateException("a row without an event time came to step '" + program.name() + "' (source " + position.source
          + ", partition " + position.partition + ", offset " + position.offset + ")");
    }
    long time = exit.getLong(Program.EXIT_TIME);
    position.time = time;
    point(key, Program.EXIT_KEY);
    int hash = Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    if (hot != null) {
      hot.row(hash, key);
    }
    if (program.isOfGroups()) {
      point(inputs, Program.EXIT_INPUTS);
      if (exit.getInt(TableSpec.EXIT_SIGN) < 0) {
        partials.retract(TableSpec.PART, hash, key, inputs, position);
      } else {
        partials.add(TableSpec.PART, hash, key, inputs, position);
      }
      return;
    }
    boolean byItself = isLate(time);
    if (partials == null || byItself || !worth && (marks >>> hash & 1) == 0) {
      rows[side].add(program.slot(hash), position, exit, program.wantsRow(byItself), full);
      return;
    }
    point(inputs, Program.EXIT_INPUTS);
    partials.add(slice, hash, key, inputs, position);
    if (++combined == SAMPLE) {
      worth = partials.size() < SAMPLE * WORTH;
      marks = worth || hot == null ? 0 : hot.marks();
    }
  }

  /** Whether the event may be late; also finds its slice. */
  private boolean isLate(long time) {
    if (program.window() == null) {
      return program.stands() && program.forgets(time, judged);
    }
    if (program.window() instanceof SlidingWindow sliding) {
      return judged >= program.closed(sliding.end(time));
    }
    if (program.window() instanceof SessionWindow session) {
      slice = session.slice(time);
      return judged >= program.closed(session.end(time));
    }
    Windows windows = (Windows) program.window();
    long now = windows instanceof StatedWindows ? key.getLong(key.numFields() - 1) : windows.slice(time);
    if (!known || now != slice) {
      known = true;
      slice = now;
      late = judged >= program.closed(windows.end(windows.last(now)));
    }
    return late;
  }

  /** Points a reused row at a struct, where {@code getStruct} would allocate one. */
  private void point(UnsafeRow at, int ordinal) {
    long where = exit.getLong(ordinal);
    at.pointTo(exit.getBaseObject(), exit.getBaseOffset() + (int) (where >>> 32), (int) where);
  }
}
