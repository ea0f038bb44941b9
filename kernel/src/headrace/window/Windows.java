package headrace.window;

/**
 * Windows that are known before their events are: each is a run of slices, and a slice lies in no window by half.
 *
 * <p>Slices and windows have numbers that grow with time, a window's with its end. Bounds beyond the ends of time saturate.
 */
public sealed interface Windows extends Window permits AlignedWindows, GlobalWindow, StatedWindows {
  /** The slice that holds the time. */
  long slice(long time);

  /** The first window, by its end, that has the slice. */
  long first(long slice);

  /** The last window that has the slice; its end decides whether an event is late altogether. */
  long last(long slice);

  /** The window after this one. */
  long next(long window);

  long start(long window);

  long end(long window);

  /** The first slice of a window. */
  long from(long window);

  /** The slice after the last one of a window. */
  long until(long window);

  /** Whether a slice may lie in more windows than one. */
  boolean overlap();
}
