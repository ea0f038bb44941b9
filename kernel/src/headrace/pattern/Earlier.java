package headrace.pattern;

import java.util.List;

/** The conditions of an event that look at what a partial match has taken before it. */
public interface Earlier {
  /** There are none. */
  Earlier NONE = (wanted, event, taken) -> 0;

  /**
   * Which of the wanted conditions an event fulfils.
   *
   * @param taken the events of each step of the pattern in their order, none of any where the event is to be the first
   */
  long fulfilled(long wanted, Event event, List<List<Event>> taken);
}
