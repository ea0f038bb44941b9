package headrace.window;

/**
 * Windows that each event states by itself. A window's number is its end; its start is part of the key that the state is kept by, as
 * the last field but one, and the end is the last.
 */
public record StatedWindows() implements Windows {
  /** How many fields of the key are the window's. */
  public static final int KEY_FIELDS = 2;

  @Override
  public long slice(long time) {
    throw new UnsupportedOperationException("the event says it itself");
  }

  @Override
  public long first(long slice) {
    return slice;
  }

  @Override
  public long last(long slice) {
    return slice;
  }

  @Override
  public long next(long window) {
    return window + 1;
  }

  @Override
  public long start(long window) {
    throw new UnsupportedOperationException("the key says it");
  }

  @Override
  public long end(long window) {
    return window;
  }

  @Override
  public long from(long window) {
    return window;
  }

  @Override
  public long until(long window) {
    return window + 1;
  }

  @Override
  public boolean overlap() {
    return false;
  }
}
