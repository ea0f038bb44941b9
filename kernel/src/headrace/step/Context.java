package headrace.step;

import headrace.state.Cells;
import java.util.Iterator;

/** What a step sees of the world during one epoch of one key group. */
public interface Context {
  long NO_WATERMARK = Long.MIN_VALUE;
  long END = Long.MAX_VALUE;

  int group();

  Cells cells();

  /** The watermark that the rows of this epoch are judged by. */
  long judged();

  /** The processing time of the tick before those of this epoch in milliseconds, {@link #NO_WATERMARK} when there was none. */
  long ticked();

  void emit(Output output);

  /** Emits later, after the step is closed: one after another, each only when it is asked for. */
  void emit(Iterator<Output> outputs);

  /** A number that no other output of this epoch and group has: the position of what has none in a source. */
  long number();

  /** The ledger: what became of the rows. Every one that came is counted once. */
  void used(long rows);

  void late(long rows);

  void duplicate(long rows);

  void rejected(long rows);

  /** Partial results that were given up, since a key had too many; they are counted besides, and are no rows. */
  void givenUp(long partials);
}
