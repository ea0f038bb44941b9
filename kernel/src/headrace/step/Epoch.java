package headrace.step;

import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.Cells;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/**
 * One epoch of one key group: gathers the inputs, puts them into the order that replays repeat, and drives the step through them.
 *
 * <p>The order of shuffled rows changes from run to run; that of (source, partition, offset) does not. Ticks come last.
 */
public final class Epoch implements Context {
  /** In the place of a side: events that were combined before they came. */
  public static final int COMBINED = -1;

  /** Partials, or a row of one of the step's inputs; in the payload it is {@code length} bytes from {@code from} on. */
  private record Input(int side, long place, long offset, long time, byte[] payload, int from, int length) {
    long address() {
      return Platform.BYTE_ARRAY_OFFSET + (long) from;
    }

    static int byPosition(Input one, Input other) {
      int order = Long.compare(one.place, other.place);
      if (order == 0) {
        order = Long.compare(one.offset, other.offset);
      }
      if (order == 0) {
        order = Long.compare(one.time, other.time);
      }
      return order == 0 ? Integer.compare(one.side, other.side) : order;
    }
  }

  private static final Comparator<Output> BY_TIME = (one, other) -> Long.compare(one.time(), other.time());

  private final int group;
  private final Cells cells;
  private final Ledger ledger = new Ledger();
  private final List<Input> inputs = new ArrayList<>();
  private final UnsafeRow exit = new UnsafeRow(Program.EXIT_FIELDS);
  private final List<Output> now = new ArrayList<>();
  private final List<Iterator<Output>> later = new ArrayList<>();
  private final long judged;
  private final long before;
  private boolean ticked;
  private long watermark = NO_WATERMARK;
  private long processed = NO_WATERMARK;
  private long numbers;

  /**
   * @param judged the watermark that the rows of this epoch are judged by
   * @param ticked the processing time of the last tick of an earlier epoch, in milliseconds
   */
  public Epoch(int group, Cells cells, long judged, long ticked) {
    this.group = group;
    this.cells = cells;
    this.judged = judged;
    this.before = ticked;
  }

  /** Takes a row of one of the step's inputs; or else {@link #COMBINED}, whose time is the number of their slice. */
  public void add(int side, int source, int partition, long offset, long time, byte[] payload) {
    inputs.add(new Input(side, Partials.place(source, partition), offset, time, payload, 0, payload.length));
  }

  /** Takes a run of rows of one of the step's inputs. */
  public void add(int side, byte[] run) {
    ByteReader in = RowRun.open(run);
    while (in.hasRemaining()) {
      long place = in.readFixed();
      long offset = in.readFixed();
      int length = Math.toIntExact(in.readFixed());
      int from = in.position();
      in.skip(length);
      exit.pointTo(run, Platform.BYTE_ARRAY_OFFSET + (long) from, length);
      inputs.add(new Input(side, place, offset, exit.getLong(Program.EXIT_TIME), run, from, length));
    }
  }

  /** {@code millis}: 0 while the clock has not ticked, since nothing can have passed before it did. */
  public void tick(long to, long millis) {
    ticked = true;
    watermark = Math.max(watermark, to);
    processed = millis == 0 ? processed : Math.max(processed, millis);
  }

  /** What became of the rows; complete once {@link #run} has returned. */
  public Ledger ledger() {
    return ledger;
  }

  /** Runs the step. What it emits now is in the iterator's front; what it emits later is computed as the iterator is read. */
  public Iterator<Output> run(Step step) {
    inputs.sort(Input::byPosition);
    Position position = new Position();
    step.open(this);
    for (Input input : inputs) {
      position.at(input.time, (int) (input.place >> 32), (int) input.place, input.offset);
      if (input.side == COMBINED) {
        step.onPartials(position, input.time, input.payload);
      } else {
        exit.pointTo(input.payload, input.address(), input.length);
        step.onRow(input.side, position, exit);
      }
    }
    if (ticked) {
      step.onTick(watermark, processed);
    }
    step.close();
    inputs.clear();
    // Spark sorts what leaves a task; runs that are in order already leave it a merge to do, and let it read them one after another.
    now.sort(BY_TIME);
    later.add(0, now.iterator());
    return chained(later.iterator());
  }

  private static Iterator<Output> chained(Iterator<Iterator<Output>> all) {
    return new Iterator<>() {
      private Iterator<Output> current = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        while (!current.hasNext() && all.hasNext()) {
          current = all.next();
        }
        return current.hasNext();
      }

      @Override
      public Output next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return current.next();
      }
    };
  }

  @Override
  public int group() {
    return group;
  }

  @Override
  public Cells cells() {
    return cells;
  }

  @Override
  public long judged() {
    return judged;
  }

  @Override
  public long ticked() {
    return before;
  }

  @Override
  public void emit(Output output) {
    now.add(output);
  }

  @Override
  public void emit(Iterator<Output> outputs) {
    later.add(outputs);
  }

  @Override
  public long number() {
    return numbers++;
  }

  @Override
  public void used(long rows) {
    ledger.used += rows;
  }

  @Override
  public void late(long rows) {
    ledger.late += rows;
  }

  @Override
  public void duplicate(long rows) {
    ledger.duplicate += rows;
  }

  @Override
  public void rejected(long rows) {
    ledger.rejected += rows;
  }

  @Override
  public void givenUp(long partials) {
    ledger.givenUp += partials;
  }
}
