package headrace.clock;

/** A source as its clock sees it: something that can be looked at, and that may come to an end. */
public interface Feed {
  /**
   * Looks at the source and reports to the clock; what was seen a moment ago is good enough.
   *
   * <p>The clock asks every source before it decides, since Spark may ask the clock first: silence and
   * backlog must not be judged by what was seen before a long epoch.
   */
  void poll();

  /** The work of an epoch is done; what comes until the next poll is waiting. */
  default void epochEnded() {}

  /** Whether the source knows by now where it is; it learns that from Spark. */
  boolean started();

  /** Whether there are more unread rows (in a bounded run: of this run) than the next epoch takes. */
  boolean behind();

  /** In a bounded run: whether all that was there when the run began has been processed. */
  boolean exhausted();
}
