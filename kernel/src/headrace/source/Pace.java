package headrace.source;

/**
 * How many rows the next epoch may take, so that an epoch takes about as long as it should.
 *
 * <p>Moves by at most a factor of two per epoch: one odd epoch (the first one, a collected heap) must not
 * throw it off. An epoch that was not full says nothing about how many more rows it could have taken.
 */
public final class Pace {
  /** Below this an epoch takes hardly less time: what it does for any number of rows takes longer than they do. */
  static final long LEAST = 25_000;
  static final long MOST = 5_000_000;

  private final long targetMillis;
  private final boolean fixed;
  private long rows;

  private Pace(long rows, long targetMillis, boolean fixed) {
    if (rows < 1) {
      throw new IllegalArgumentException("An epoch takes at least one row, not " + rows + ".");
    }
    if (targetMillis < 1) {
      throw new IllegalArgumentException("The target time of an epoch is at least 1 ms, not " + targetMillis + ".");
    }
    this.rows = rows;
    this.targetMillis = targetMillis;
    this.fixed = fixed;
  }

  /** Begins with {@code rows} and heads for epochs of {@code targetMillis}. */
  public static Pace adaptive(long rows, long targetMillis) {
    return new Pace(rows, targetMillis, false);
  }

  /** Always the same number of rows. */
  public static Pace fixed(long rows) {
    return new Pace(rows, 1, true);
  }

  /** Rows that the next epoch may take. */
  public long rows() {
    return rows;
  }

  /** An epoch took {@code taken} rows and so many milliseconds. */
  public void adapt(long taken, long millis) {
    if (fixed || taken <= 0) {
      return;
    }
    double fit = (double) taken * targetMillis / Math.max(1, millis);
    boolean full = taken >= rows - rows / 10;
    double most = full ? rows * 2.0 : rows;
    long moved = (long) Math.min(most, Math.max(rows / 2.0, fit));
    // A start below the least is the user's own; from there it only goes up.
    rows = Math.min(MOST, Math.max(moved, Math.min(LEAST, rows)));
  }
}
