package headrace.step;

import headrace.pattern.PatternSpec;
import java.util.List;

/**
 * How patterns are looked for in the rows of a key.
 *
 * <p>A row comes with its conditions in its first column, one bit for each, then the columns that order rows of one time, then its own.
 *
 * @param directions how rows of one time are ordered, one for each such column: {@code "asc nulls first"}
 * @param elements where each column of an event in a result is: among those of the key, then of the row
 * @param slice how many microseconds of event time wait together; a state that has slices of another length keeps them
 * @param earlier the conditions that look at earlier events of the match
 * @param shown a row as it is rejected where one of them fails, see {@link headrace.expression.Compiled}; null where there are none
 * @param topic the topic that rejected rows are told to be of
 * @param fails whether a row for which a condition fails stops the pipeline
 * @param timedOutPort where partial matches leave that ran out of time, null where nobody wants them
 */
public record Matching(PatternSpec pattern, String[] directions, int[] elements, long slice, List<EarlierConditions.Condition> earlier,
    String shown, String topic, boolean fails, Integer timedOutPort) {
  /** The column of a row that holds its conditions. */
  static final int CONDITIONS = 0;

  public Matching {
    if (slice <= 0) {
      throw new IllegalArgumentException("rows cannot wait in slices of " + slice + " microseconds");
    }
  }

  /** What waits is held as a join of streams holds the rows that may leave alone. */
  Interval waiting() {
    return new Interval(0, 0, Interval.How.LEFT, slice, elements);
  }
}
