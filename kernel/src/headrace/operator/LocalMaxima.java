package headrace.operator;

import headrace.clock.Maxima;
import headrace.aggregate.Partials;
import java.util.HashMap;
import java.util.Map;

/** The latest event time of each partition that one task read; the shared accumulator is told once. */
final class LocalMaxima {
  private final Map<Long, long[]> maxima = new HashMap<>();
  private long lastPlace;
  private long[] last;

  void observe(int source, int partition, long time) {
    long place = Partials.place(source, partition);
    if (last == null || place != lastPlace) {
      lastPlace = place;
      last = maxima.computeIfAbsent(place, absent -> new long[] {Long.MIN_VALUE});
    }
    last[0] = Math.max(last[0], time);
  }

  void report(Maxima shared) {
    for (Map.Entry<Long, long[]> entry : maxima.entrySet()) {
      long place = entry.getKey();
      shared.observe((int) (place >> 32), (int) place, entry.getValue()[0]);
    }
  }
}
