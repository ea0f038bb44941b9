package headrace.step;

/** The arithmetic of windows that stand side by side: [start, end), aligned to 1970 plus an offset, saturating at the ends of time. */
public record TumblingWindow(long size, long offset) {
  public TumblingWindow {
    if (size <= 0 || size > Long.MAX_VALUE / 2) {
      throw new IllegalArgumentException("a window of " + size + " microseconds is none");
    }
    offset = Math.floorMod(offset, size);
  }

  /** How far into its window a time lies. The two remainders are taken apart, their difference cannot overflow. */
  private long into(long time) {
    return Math.floorMod(Math.floorMod(time, size) - offset, size);
  }

  /** The start of the window that holds the time. */
  public long start(long time) {
    long into = into(time);
    return time < Long.MIN_VALUE + into ? Long.MIN_VALUE : time - into;
  }

  /** The end of the window that holds the time, which may be its start. */
  public long end(long time) {
    long left = size - into(time);
    return time > Long.MAX_VALUE - left ? Long.MAX_VALUE : time + left;
  }
}
