package headrace.step;

/**
 * How rows of a stream find those of a table: each the version that was valid at its own time, or the row that is there now.
 *
 * @param current whether the row that is there now is wanted, which needs no time
 * @param left whether a row that finds nothing leaves alone; else it does not leave
 * @param slice how many microseconds of event time wait together; a state that has slices of another length keeps them
 * @param columns where each column of a result is: among those of the key, then of the stream's row, then of the table's
 */
public record Lookup(boolean current, boolean left, long slice, int[] columns) {
  public Lookup {
    if (slice <= 0) {
      throw new IllegalArgumentException("rows cannot wait in slices of " + slice + " microseconds");
    }
  }

  /** What waits is held as a join of streams holds the rows that may leave alone. */
  Interval waiting() {
    return new Interval(0, 0, Interval.How.LEFT, slice, columns);
  }
}
