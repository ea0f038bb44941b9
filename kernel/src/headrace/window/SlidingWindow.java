package headrace.window;

/** For each event the window that ends with it: (time - size, time]. */
public record SlidingWindow(long size) implements Window {
  public SlidingWindow {
    if (size <= 0 || size > Long.MAX_VALUE / 2) {
      throw new IllegalArgumentException("a window of " + size + " microseconds is none");
    }
  }

  /** From here on the watermark says that no event of the window can come: just after the event, which is in it. */
  public long end(long time) {
    return time == Long.MAX_VALUE ? time : time + 1;
  }
}
