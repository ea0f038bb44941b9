package headrace.step;

import headrace.state.Cells;
import java.util.Iterator;

/** What a step sees of the world during one epoch of one key group. */
public interface Context {
  long NO_WATERMARK = Long.MIN_VALUE;
  long END = Long.MAX_VALUE;

  int group();

  Cells cells();

  /** W of this epoch's tick, or {@link #NO_WATERMARK} when no tick is among the inputs and the one remembered still holds. */
  long tick();

  void emit(Output output);

  /** Emits later, after the step is closed: one after another, each only when it is asked for. */
  void emit(Iterator<Output> outputs);
}
