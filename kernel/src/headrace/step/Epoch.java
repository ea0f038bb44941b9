package headrace.step;

import headrace.aggregate.Position;
import headrace.state.Cells;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * One epoch of one key group: gathers the inputs, puts them into the order that replays repeat, and drives the step through them.
 *
 * <p>The order of shuffled rows changes from run to run; that of (source, partition, offset) does not. Ticks come last.
 */
public final class Epoch implements Context {
  private record Input(boolean row, int source, int partition, long offset, long time, byte[] payload) {}

  private static final Comparator<Input> BY_POSITION = Comparator.comparingInt(Input::source).thenComparingInt(Input::partition)
      .thenComparingLong(Input::offset).thenComparingLong(Input::time).thenComparing(Input::row);

  private final int group;
  private final Cells cells;
  private final Ledger ledger = new Ledger();
  private final List<Input> inputs = new ArrayList<>();
  private final List<Output> now = new ArrayList<>();
  private final List<Iterator<Output>> later = new ArrayList<>();
  private final long judged;
  private boolean ticked;
  private long watermark = NO_WATERMARK;
  private long processed = NO_WATERMARK;
  private long numbers;

  /** {@code judged}: the watermark that the rows of this epoch are judged by. */
  public Epoch(int group, Cells cells, long judged) {
    this.group = group;
    this.cells = cells;
    this.judged = judged;
  }

  /** Takes one input: a row in full, or else partials, whose time is the number of their slice. */
  public void add(boolean row, int source, int partition, long offset, long time, byte[] payload) {
    inputs.add(new Input(row, source, partition, offset, time, payload));
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
    inputs.sort(BY_POSITION);
    Position position = new Position();
    step.open(this);
    for (Input input : inputs) {
      position.at(input.time, input.source, input.partition, input.offset);
      if (input.row) {
        step.onRow(position, input.payload);
      } else {
        step.onPartials(position, input.time, input.payload);
      }
    }
    if (ticked) {
      step.onTick(watermark, processed);
    }
    step.close();
    inputs.clear();
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
}
