package headrace.step;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;

/** What is remembered of one key and window between its panes: rows not shown yet, the next pane's number, and what has happened. */
final class PaneState {
  private static final int SHOWN = 1;

  /** Rows since the last pane. */
  long pending;
  /** The number of the next pane. */
  long index;
  private int flags;

  void clear() {
    pending = 0;
    index = 0;
    flags = 0;
  }

  /** Whether a pane was given when the window was complete. */
  boolean shown() {
    return (flags & SHOWN) != 0;
  }

  void shown(boolean is) {
    flags = is ? flags | SHOWN : flags & ~SHOWN;
  }

  /** The moments that passed since the last pane, see {@link headrace.trigger.Condition.Every#bit}. */
  int remembered() {
    return flags & ~SHOWN;
  }

  void remember(int moments) {
    if (pending > 0) {
      flags |= moments;
    }
  }

  /** A pane is given: which kind it is. What was pending is not any more. */
  Pane give(boolean complete) {
    Pane pane = !complete ? Pane.EARLY : shown() ? Pane.LATE : Pane.ON_TIME;
    pending = 0;
    index++;
    flags = complete || shown() ? SHOWN : 0;
    return pane;
  }

  /** Joins what another part of the same window remembers. */
  void join(PaneState other) {
    pending += other.pending;
    index = Math.max(index, other.index);
    flags |= other.flags;
  }

  void read(ByteReader in) {
    pending = in.readUnsigned();
    index = in.readUnsigned();
    flags = in.readByte();
  }

  void write(ByteWriter out) {
    out.writeUnsigned(pending);
    out.writeUnsigned(index);
    out.writeByte(flags);
  }
}
