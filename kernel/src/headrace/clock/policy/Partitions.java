package headrace.clock.policy;

import headrace.clock.EpochWatermarks;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The partitions of one source: the highest event time of each, and which of them are idle.
 *
 * <p>Unread rows hold the watermark at any wall time: a partition ten minutes behind the others loses
 * nothing. A partition is idle when it is read to its end and nothing was observed of it since a poll the
 * timeout ago or more; rows that say nothing of event time (they were rejected, or mark nothing) are not
 * observed. Silence is only ever measured between polls, so neither a slow epoch nor downtime makes a
 * partition old, and it begins anew after a restart. A partition that was never heard from holds the
 * watermark until it is idle. When all are idle, the one that is furthest on decides.
 */
final class Partitions {
  private final long idleMillis;
  private final Map<Integer, Partition> partitions = new TreeMap<>();
  // Known apart from the partitions: after a restart a maximum is there before the first poll.
  private final Map<Integer, Long> maxima = new HashMap<>();
  // Since the last poll.
  private final Set<Integer> heard = new HashSet<>();
  private long watermark = EpochWatermarks.NONE;

  /** An {@code idleMillis} below zero: no partition is ever idle. */
  Partitions(long idleMillis) {
    this.idleMillis = idleMillis;
  }

  void observe(int partition, long maxMicros) {
    maxima.merge(partition, maxMicros, Math::max);
    heard.add(partition);
  }

  void poll(long millis, Map<Integer, Position> positions) {
    positions.forEach(
        (partition, position) ->
            partitions.computeIfAbsent(partition, Partition::new).see(millis, position));
  }

  void atLeast(long least) {
    watermark = Math.max(watermark, least);
  }

  /** The least of (highest event time − lag) over the partitions that are not idle; never goes back. */
  long watermark(long lagMicros) {
    long least = EpochWatermarks.END;
    long furthest = EpochWatermarks.NONE;
    boolean allIdle = true;
    for (Map.Entry<Integer, Partition> one : partitions.entrySet()) {
      long bound = bound(one.getKey(), lagMicros);
      furthest = Math.max(furthest, bound);
      if (!one.getValue().idle()) {
        allIdle = false;
        least = Math.min(least, bound);
      }
    }
    watermark = Math.max(watermark, allIdle ? furthest : least);
    return watermark;
  }

  Map<Integer, Policy.Standing> standings() {
    Map<Integer, Policy.Standing> standings = new TreeMap<>();
    partitions.forEach(
        (number, partition) -> {
          if (partition.idle()) {
            standings.put(number, Policy.Standing.IDLE);
          } else if (!partition.caughtUp) {
            standings.put(number, Policy.Standing.LAGGING);
          } else {
            standings.put(
                number, maxima.containsKey(number) ? Policy.Standing.CAUGHT_UP : Policy.Standing.UNHEARD);
          }
        });
    return standings;
  }

  private long bound(int partition, long lagMicros) {
    Long max = maxima.get(partition);
    if (max == null) {
      return EpochWatermarks.NONE;
    }
    // A time at the very beginning of the scale must not wrap around to the end of it.
    return max < EpochWatermarks.NONE + 1 + lagMicros ? EpochWatermarks.NONE + 1 : max - lagMicros;
  }

  private final class Partition {
    private final int number;
    private boolean caughtUp;
    private boolean seen;
    private long silentSince;
    private long seenAt;

    Partition(int number) {
      this.number = number;
    }

    void see(long millis, Position position) {
      if (heard.remove(number) || !seen) {
        silentSince = millis;
      }
      seen = true;
      seenAt = millis;
      caughtUp = position.caughtUp();
    }

    boolean idle() {
      // What was heard after the poll is as new as the next one will find it.
      boolean silent = caughtUp && !heard.contains(number);
      return silent && idleMillis >= 0 && seenAt - silentSince >= idleMillis && seenAt > silentSince;
    }
  }
}
