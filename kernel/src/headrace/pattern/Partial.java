package headrace.pattern;

/** A partial match: what it has taken, and the positions that it waits in. */
final class Partial {
  /** What it took last; null for what has taken nothing yet. */
  final Taken taken;
  Position[] positions;
  /** Whether it was a match already, and waits for a longer one. */
  boolean given;
  private long deadline;

  Partial(Taken taken, Position[] positions, boolean given, PatternSpec pattern) {
    this.taken = taken;
    this.given = given;
    moveTo(positions, pattern);
  }

  void moveTo(Position[] to, PatternSpec pattern) {
    positions = to;
    deadline = Deadline.NEVER;
    for (Position position : to) {
      deadline = Math.min(deadline, Deadline.of(taken, position, pattern));
    }
  }

  /** When the first of its positions runs out of time. */
  long deadline() {
    return deadline;
  }
}
