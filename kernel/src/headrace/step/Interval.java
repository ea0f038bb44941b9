package headrace.step;

/**
 * Which rows of two streams belong together: those of one key whose times are apart by {@code lower} to {@code upper} microseconds, right
 * minus left, both included.
 *
 * @param slice how many microseconds of event time are held together; a state that has slices of another length keeps them
 * @param columns where each column of a result is: among those of the key, then of the left row, then of the right row
 */
public record Interval(long lower, long upper, How how, long slice, int[] columns) {
  static final int LEFT = 0;
  static final int RIGHT = 1;

  /** What becomes of rows that match, and of those that do not. */
  public enum How {
    INNER(true, false, false), LEFT(true, true, false), RIGHT(true, false, true), FULL(true, true, true), SEMI(false, false, false),
    ANTI(false, true, false);

    /** Whether a result has both rows; else it is a left row. */
    final boolean pairs;
    private final boolean left;
    private final boolean right;

    How(boolean pairs, boolean left, boolean right) {
      this.pairs = pairs;
      this.left = left;
      this.right = right;
    }

    /** Whether rows of a side leave when nothing has matched them. */
    boolean givesUnmatched(int side) {
      return side == Interval.LEFT ? left : right;
    }
  }

  public Interval {
    if (lower > upper || slice <= 0) {
      throw new IllegalArgumentException("no interval: " + lower + " to " + upper + " microseconds, in slices of " + slice);
    }
  }

  /** The least that a matching row's time differs from that of a row of a side. */
  long from(int side) {
    return side == LEFT ? lower : -upper;
  }

  /** The most that a matching row's time differs from that of a row of a side. */
  long to(int side) {
    return side == LEFT ? upper : -lower;
  }

  /** The time of a result that is one row of a side alone. */
  long timeAlone(int side, long time) {
    return time + Math.max(0, to(side));
  }
}
