package headrace.window;

/** Events of a key that are less than a gap apart: [first, last + gap). */
public record SessionWindow(long gap) implements Window {
  public SessionWindow {
    if (gap <= 0 || gap > Long.MAX_VALUE / 2) {
      throw new IllegalArgumentException("a session's gap of " + gap + " microseconds is none");
    }
  }

  /** Events of one slice are of one session, whatever else comes. */
  public long slice(long time) {
    return Math.floorDiv(time, gap);
  }

  /** The end of a session whose last event is of this time. */
  public long end(long time) {
    return time > Long.MAX_VALUE - gap ? Long.MAX_VALUE : time + gap;
  }
}
