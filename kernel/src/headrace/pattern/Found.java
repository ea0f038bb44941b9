package headrace.pattern;

import java.util.ArrayList;
import java.util.List;

/**
 * A match, or a partial one that ran out of time.
 *
 * @param events the events of each step of the pattern, in their order
 * @param start when the first of all was
 * @param end when the last of all was
 * @param time when it was known: the time of the event that completed it, or of the end of its time
 * @param complete whether it is a match
 */
public record Found(List<List<Event>> events, long start, long end, long time, boolean complete) {
  static Found of(Taken last, int steps, long time, boolean complete) {
    return new Found(events(last, steps), last.first.time, last.event.time, time, complete);
  }

  /** What was taken, by step. */
  static List<List<Event>> events(Taken last, int steps) {
    List<List<Event>> events = new ArrayList<>();
    for (int step = 0; step < steps; step++) {
      events.add(new ArrayList<>());
    }
    for (Taken each : last.path()) {
      events.get(each.step).add(each.event);
    }
    return events;
  }
}
