package headrace.clock.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.clock.EpochWatermarks;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The bounded policy, with the wall clock and the broker moved by hand. */
class BoundedTest {
  private static final long SECOND = 1_000_000;
  private static final long MINUTE = 60 * SECOND;
  private static final long IDLE = 30_000;

  private final Bounded policy = new Bounded(5 * SECOND, IDLE);

  private static Position at(long processed, long end) {
    return new Position(processed, end);
  }

  @Test
  void aPartitionTenMinutesBehindHoldsTheWatermarkAtItsOwnEvents() {
    policy.observe(0, 20 * MINUTE);
    policy.observe(1, 10 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(10, 500)));
    assertEquals(10 * MINUTE - 5 * SECOND, policy.watermark());
    // However long it takes, and however far the other one gets.
    policy.observe(0, 90 * MINUTE);
    policy.poll(3_600_000, Map.of(0, at(99, 99), 1, at(10, 500)));
    assertEquals(10 * MINUTE - 5 * SECOND, policy.watermark());
    assertEquals(Policy.Standing.LAGGING, policy.standings().get(1));
  }

  @Test
  void backlogIsNeverIdleEvenWhereNothingWasEverRead() {
    policy.observe(0, 20 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(0, 500)));
    policy.poll(10 * IDLE, Map.of(0, at(20, 20), 1, at(0, 500)));
    policy.poll(20 * IDLE, Map.of(0, at(30, 30), 1, at(0, 500)));
    assertEquals(EpochWatermarks.NONE, policy.watermark());
  }

  @Test
  void anIdlePartitionHoldsNothingUpLongerThanItsTimeout() {
    policy.observe(0, 20 * MINUTE);
    policy.observe(1, 10 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(5, 5)));
    policy.poll(IDLE - 1, Map.of(0, at(11, 11), 1, at(5, 5)));
    assertEquals(10 * MINUTE - 5 * SECOND, policy.watermark());
    policy.poll(IDLE, Map.of(0, at(12, 12), 1, at(5, 5)));
    assertEquals(20 * MINUTE - 5 * SECOND, policy.watermark());
    assertEquals(Policy.Standing.IDLE, policy.standings().get(1));
  }

  @Test
  void anIdlePartitionThatGetsRowsHoldsAgainAndTheWatermarkDoesNotGoBack() {
    policy.observe(0, 20 * MINUTE);
    policy.observe(1, 10 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(5, 5)));
    policy.poll(IDLE, Map.of(0, at(12, 12), 1, at(5, 5)));
    policy.watermark();
    policy.observe(0, 30 * MINUTE);
    policy.poll(IDLE + 1, Map.of(0, at(13, 13), 1, at(5, 6)));
    assertEquals(20 * MINUTE - 5 * SECOND, policy.watermark());
    policy.observe(1, 31 * MINUTE);
    policy.poll(IDLE + 2, Map.of(0, at(13, 13), 1, at(6, 6)));
    assertEquals(30 * MINUTE - 5 * SECOND, policy.watermark());
  }

  @Test
  void aPartitionNeverHeardFromHoldsUntilItsTimeout() {
    policy.observe(0, 20 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(0, 0)));
    assertEquals(EpochWatermarks.NONE, policy.watermark());
    assertEquals(Policy.Standing.UNHEARD, policy.standings().get(1));
    policy.poll(IDLE, Map.of(0, at(11, 11), 1, at(0, 0)));
    assertEquals(20 * MINUTE - 5 * SECOND, policy.watermark());
  }

  @Test
  void whenAllAreIdleTheFurthestDecides() {
    policy.observe(0, 20 * MINUTE);
    policy.observe(1, 10 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(5, 5), 2, at(0, 0)));
    policy.poll(IDLE, Map.of(0, at(10, 10), 1, at(5, 5), 2, at(0, 0)));
    assertEquals(20 * MINUTE - 5 * SECOND, policy.watermark());
  }

  @Test
  void anEmptyTopicHasNoWatermark() {
    policy.poll(0, Map.of(0, at(0, 0), 1, at(0, 0)));
    policy.poll(10 * IDLE, Map.of(0, at(0, 0), 1, at(0, 0)));
    assertEquals(EpochWatermarks.NONE, policy.watermark());
  }

  @Test
  void nothingIsKnownBeforeTheFirstPoll() {
    policy.observe(0, 20 * MINUTE);
    assertEquals(EpochWatermarks.NONE, policy.watermark());
  }

  @Test
  void downtimeDoesNotAgeAPartition() {
    // The state that survives a restart is the maxima and W, not the silence.
    Bounded restarted = new Bounded(5 * SECOND, IDLE);
    restarted.atLeast(10 * MINUTE - 5 * SECOND);
    restarted.observe(0, 20 * MINUTE);
    restarted.observe(1, 10 * MINUTE);
    restarted.poll(100 * IDLE, Map.of(0, at(10, 10), 1, at(5, 5)));
    assertEquals(10 * MINUTE - 5 * SECOND, restarted.watermark());
    restarted.poll(101 * IDLE, Map.of(0, at(10, 10), 1, at(5, 5)));
    assertEquals(20 * MINUTE - 5 * SECOND, restarted.watermark());
  }

  @Test
  void aSlowEpochDoesNotAgeAPartitionThatGotRowsMeanwhile() {
    policy.observe(0, 20 * MINUTE);
    policy.observe(1, 10 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(5, 5)));
    // An epoch of five minutes: at its end both have unread rows.
    policy.poll(300_000, Map.of(0, at(10, 20), 1, at(5, 6)));
    assertEquals(10 * MINUTE - 5 * SECOND, policy.watermark());
    // It caught up only now; its silence begins now.
    policy.observe(0, 30 * MINUTE);
    policy.observe(1, 12 * MINUTE);
    policy.poll(600_000, Map.of(0, at(20, 20), 1, at(6, 6)));
    assertEquals(12 * MINUTE - 5 * SECOND, policy.watermark());
  }

  @Test
  void rowsReadBetweenTwoPollsBreakTheSilence() {
    policy.observe(0, 20 * MINUTE);
    policy.observe(1, 10 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(5, 5)));
    policy.poll(IDLE, Map.of(0, at(10, 10), 1, at(6, 6)));
    // Its newest row is no newer than what was there.
    policy.observe(1, 10 * MINUTE);
    assertEquals(10 * MINUTE - 5 * SECOND, policy.watermark());
    policy.poll(2 * IDLE, Map.of(0, at(10, 10), 1, at(6, 6)));
    assertEquals(10 * MINUTE - 5 * SECOND, policy.watermark());
    policy.poll(3 * IDLE, Map.of(0, at(10, 10), 1, at(6, 6)));
    assertEquals(20 * MINUTE - 5 * SECOND, policy.watermark());
  }

  @Test
  void rowsWithoutAnEventTimeDoNotBreakTheSilence() {
    policy.observe(0, 20 * MINUTE);
    policy.observe(1, 10 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10), 1, at(5, 5), 2, at(0, 0)));
    // Partition 2 never had one, partition 1 had one once; both get nothing but such rows.
    policy.poll(IDLE - 1, Map.of(0, at(11, 11), 1, at(6, 6), 2, at(3, 3)));
    assertEquals(EpochWatermarks.NONE, policy.watermark());
    policy.observe(0, 30 * MINUTE);
    policy.poll(IDLE, Map.of(0, at(12, 12), 1, at(6, 7), 2, at(4, 4)));
    // Unread, it may be anything.
    assertEquals(10 * MINUTE - 5 * SECOND, policy.watermark());
    policy.poll(IDLE + 1, Map.of(0, at(12, 12), 1, at(7, 7), 2, at(5, 5)));
    assertEquals(30 * MINUTE - 5 * SECOND, policy.watermark());
  }

  @Test
  void aPartitionAddedWhileRunningHoldsUntilItIsHeardOrIdle() {
    policy.observe(0, 20 * MINUTE);
    policy.poll(0, Map.of(0, at(10, 10)));
    assertEquals(20 * MINUTE - 5 * SECOND, policy.watermark());
    policy.observe(0, 30 * MINUTE);
    policy.poll(1_000, Map.of(0, at(20, 20), 1, at(0, 0)));
    assertEquals(20 * MINUTE - 5 * SECOND, policy.watermark());
    policy.observe(1, 29 * MINUTE);
    policy.poll(2_000, Map.of(0, at(20, 20), 1, at(3, 3)));
    assertEquals(29 * MINUTE - 5 * SECOND, policy.watermark());
  }

  @Test
  void withoutATimeoutNothingIsIdle() {
    Bounded patient = new Bounded(0, -1);
    patient.observe(0, MINUTE);
    patient.poll(0, Map.of(0, at(1, 1), 1, at(0, 0)));
    patient.poll(1_000 * IDLE, Map.of(0, at(1, 1), 1, at(0, 0)));
    assertEquals(EpochWatermarks.NONE, patient.watermark());
  }

  @Test
  void atTheBeginningOfTheScaleTheLagDoesNotWrapAround() {
    policy.observe(0, EpochWatermarks.NONE + 2);
    policy.poll(0, Map.of(0, at(1, 1)));
    assertEquals(EpochWatermarks.NONE + 1, policy.watermark());
  }

  /** Whatever happens: W never goes back and never passes a partition that has unread rows. */
  @Test
  void holdsForRandomHistories() {
    for (int seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      long lag = random.nextInt(10) * SECOND;
      Bounded machine = new Bounded(lag, IDLE);
      Map<Integer, Position> broker = new TreeMap<>();
      Map<Integer, Long> maxima = new TreeMap<>();
      long wall = 0;
      long before = EpochWatermarks.NONE;
      for (int step = 0; step < 200; step++) {
        wall += random.nextInt((int) IDLE);
        int partition = random.nextInt(4);
        Position old = broker.getOrDefault(partition, at(0, 0));
        Position moved =
            random.nextBoolean()
                ? at(old.processed(), old.end() + random.nextInt(5))
                : at(old.processed() + random.nextInt((int) old.backlog() + 1), old.end());
        broker.put(partition, moved);
        if (moved.processed() > old.processed()) {
          long max = random.nextInt(1_000) * SECOND;
          maxima.merge(partition, max, Math::max);
          machine.observe(partition, max);
        }
        machine.poll(wall, broker);
        long now = machine.watermark();
        assertTrue(now >= before, "W went back, seed " + seed);
        for (Map.Entry<Integer, Position> one : broker.entrySet()) {
          if (one.getValue().backlog() > 0 && now > before) {
            Long max = maxima.get(one.getKey());
            assertTrue(max != null && now <= max - lag, "W passed unread rows, seed " + seed + " step " + step);
          }
        }
        before = now;
      }
    }
  }
}
