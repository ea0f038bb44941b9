package headrace.pattern;

/** When time runs out: an event of this time comes too late. */
final class Deadline {
  static final long NEVER = Long.MAX_VALUE;

  private Deadline() {}

  static long of(Taken taken, Position position, PatternSpec pattern) {
    return Math.min(after(taken.first.time, pattern.within()), after(taken.event.time, position.within));
  }

  private static long after(long time, long length) {
    return length == PatternSpec.ANY_LENGTH || time > NEVER - length ? NEVER : time + length;
  }
}
