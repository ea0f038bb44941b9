package headrace.window;

/** One window for all of time: its end is the end of time, which only draining reaches. */
public record GlobalWindow() implements Windows {
  private static final long ONLY = 0;

  @Override
  public long slice(long time) {
    return ONLY;
  }

  @Override
  public long first(long slice) {
    return ONLY;
  }

  @Override
  public long last(long slice) {
    return ONLY;
  }

  @Override
  public long next(long window) {
    return ONLY + 1;
  }

  @Override
  public long start(long window) {
    return Long.MIN_VALUE;
  }

  @Override
  public long end(long window) {
    return Long.MAX_VALUE;
  }

  @Override
  public long from(long window) {
    return ONLY;
  }

  @Override
  public long until(long window) {
    return ONLY + 1;
  }

  @Override
  public boolean overlap() {
    return false;
  }
}
