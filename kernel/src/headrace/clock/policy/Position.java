package headrace.clock.policy;

/** How far a partition has been read, and how far it reaches: the next offset to process, and its end. */
public record Position(long processed, long end) {
  /** Rows that are there and have not been processed. */
  public long backlog() {
    return Math.max(0, end - processed);
  }

  /** Whether everything that was there at the poll has been processed. */
  public boolean caughtUp() {
    return processed >= end;
  }
}
