package headrace.operator;

import headrace.aggregate.Partials;
import headrace.clock.EpochMaxima;
import headrace.clock.Maxima;
import headrace.clock.policy.Lateness;
import java.util.HashMap;
import java.util.Map;

/**
 * The latest event time of each partition that one task read, and how late its rows were where that is to be
 * learned; the shared accumulator is told once.
 */
final class LocalMaxima {
  private final Map<Long, Seen> partitions = new HashMap<>();
  private EpochMaxima known;
  private long lastPlace;
  private Seen last;

  private static final class Seen {
    final long firstOffset;
    final Lateness lateness;
    long max = Long.MIN_VALUE;

    Seen(long firstOffset, Lateness lateness) {
      this.firstOffset = firstOffset;
      this.lateness = lateness;
    }
  }

  /** Rows of one partition come in the order of their offsets: a task reads it as it is in the topic. */
  void observe(int source, int partition, long offset, long time) {
    long place = Partials.place(source, partition);
    if (last == null || place != lastPlace) {
      lastPlace = place;
      last = partitions.computeIfAbsent(place, absent -> new Seen(offset, known().begin(source, partition)));
    }
    last.max = Math.max(last.max, time);
    if (last.lateness != null) {
      last.lateness.observe(time);
    }
  }

  void report(Maxima shared) {
    for (Map.Entry<Long, Seen> entry : partitions.entrySet()) {
      long place = entry.getKey();
      int source = (int) (place >> 32);
      int partition = (int) place;
      Seen seen = entry.getValue();
      shared.observe(source, partition, seen.max);
      if (seen.lateness != null) {
        shared.observe(new Maxima.Part(known().epoch(), source, partition, seen.firstOffset), seen.lateness);
      }
    }
  }

  private EpochMaxima known() {
    if (known == null) {
      known = EpochMaxima.ofTask();
    }
    return known;
  }
}
