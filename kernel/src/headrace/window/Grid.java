package headrace.window;

/** Boundaries in event time, numbered: slice i is [boundary(i), boundary(i + 1)). */
public interface Grid {
  /** The slice that holds the time. */
  long index(long time);

  /** Where a slice begins. */
  long boundary(long index);
}
