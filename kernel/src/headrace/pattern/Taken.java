package headrace.pattern;

/**
 * An event that a partial match has taken, and those that it took before: partial matches that began alike share what they took.
 *
 * <p>So rows are not copied, however many selections of events there are.
 */
final class Taken {
  final Event event;
  final int step;
  /** What was taken before, null for the first. */
  final Taken before;
  final Event first;
  /** How many events were taken. */
  final int size;
  /** Its place in the bytes of the key, while these are written. */
  int place;

  Taken(Event event, int step, Taken before) {
    this.event = event;
    this.step = step;
    this.before = before;
    first = before == null ? event : before.first;
    size = before == null ? 1 : before.size + 1;
  }

  /** All that was taken, from the first on. */
  Taken[] path() {
    Taken[] path = new Taken[size];
    int at = size;
    for (Taken each = this; each != null; each = each.before) {
      path[--at] = each;
    }
    return path;
  }

  /** Orders selections by their events, then by their steps, from the first on. */
  static int compare(Taken one, Taken other) {
    Taken[] ones = one.path();
    Taken[] others = other.path();
    int order = 0;
    for (int i = 0; order == 0 && i < Math.min(ones.length, others.length); i++) {
      order = Long.compare(ones[i].event.number, others[i].event.number);
      order = order == 0 ? Integer.compare(ones[i].step, others[i].step) : order;
    }
    return order == 0 ? Integer.compare(ones.length, others.length) : order;
  }
}
