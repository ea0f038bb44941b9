package headrace.trigger;

/** What a pane holds when its window has had one before. */
public enum Accumulation {
  /** All rows so far. */
  ACCUMULATING,
  /** The rows since the last pane. */
  DISCARDING,
  /** All rows so far, after the last pane was taken back. */
  RETRACTING
}
