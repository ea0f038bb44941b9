package headrace.clock.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.clock.EpochWatermarks;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The lag that is learned, on lateness that is made; the same criteria as of benchmarks/adaptive.py. */
class AdaptiveTest {
  private static final long SECOND = 1_000_000;
  private static final long AT_MOST = 120 * SECOND;
  private static final double COMPLETENESS = 0.999;
  private static final int WARM = 20_000;
  private static final int EVENTS = 1_000_000;
  private static final int RATE = 1_000;
  private static final int PARTITIONS = 4;

  private static Adaptive adaptive() {
    return new Adaptive(COMPLETENESS, AT_MOST, -1);
  }

  private static Lateness late(int rows, double seconds) {
    Random random = new Random(rows);
    Lateness seen = new Lateness(0, EpochWatermarks.NONE);
    for (int i = 0; i < rows; i++) {
      seen.observe(-(long) (random.nextDouble() * seconds * SECOND));
    }
    return seen;
  }

  /** A stream that has been flowing: event times in the order of arrival, delayed by what each moment's law gives. */
  private record Arrivals(int[] partitions, long[] times) {
    static Arrivals of(IntFunction<DoubleUnaryOperator> law) {
      int before = (int) (AT_MOST / SECOND) * RATE;
      Random random = new Random(7);
      long[] made = new long[before + EVENTS];
      double[] arrived = new double[made.length];
      for (int i = 0; i < made.length; i++) {
        made[i] = (long) i * SECOND / RATE;
        double delay = law.apply(i < before ? 0 : i - before).applyAsDouble(random.nextDouble());
        arrived[i] = made[i] + delay * SECOND;
      }
      int[] order =
          IntStream.range(0, made.length)
              .filter(i -> arrived[i] >= AT_MOST)
              .boxed()
              .sorted(Comparator.comparingDouble(i -> arrived[i]))
              .limit(EVENTS)
              .mapToInt(Integer::intValue)
              .toArray();
      int[] partitions = Arrays.stream(order).map(i -> random.nextInt(PARTITIONS)).toArray();
      return new Arrivals(partitions, Arrays.stream(order).mapToLong(i -> made[i]).toArray());
    }
  }

  private record Outcome(double completeness, double meanLag, double bestFixedLag) {}

  private static Outcome outcome(Arrivals arrivals, int rowsPerEpoch) {
    return outcome(arrivals, epoch -> rowsPerEpoch, WARM);
  }

  private static Outcome outcome(Arrivals arrivals, IntUnaryOperator rowsOfEpoch, int uncounted) {
    List<Rehearsal.Epoch> epochs =
        Rehearsal.run(arrivals.partitions(), arrivals.times(), rowsOfEpoch, adaptive());
    long seen = 0;
    long rows = 0;
    long behind = 0;
    double lag = 0;
    long[] needed = new long[arrivals.times().length];
    int counted = 0;
    for (Rehearsal.Epoch epoch : epochs) {
      if (seen >= uncounted) {
        rows += epoch.rows();
        behind += epoch.behind();
        lag += (double) (epoch.least() - epoch.watermark()) * epoch.rows();
        for (int row = 0; row < epoch.rows(); row++) {
          needed[counted++] = Math.max(0, epoch.least() - arrivals.times()[(int) seen + row]);
        }
      }
      seen += epoch.rows();
    }
    needed = Arrays.copyOf(needed, counted);
    Arrays.sort(needed);
    return new Outcome(
        1 - (double) behind / rows, lag / rows, needed[counted - 1 - (int) (counted * (1 - COMPLETENESS))]);
  }

  private static void assertMeets(Outcome outcome) {
    assertEquals(COMPLETENESS, outcome.completeness(), 0.001 + 1e-9, outcome.toString());
  }

  @Test
  void uniformLatenessIsMetWithALagHardlyLongerThanTheBestFixedOne() {
    Arrivals arrivals = Arrivals.of(i -> u -> 5 * u);
    for (int rowsPerEpoch : new int[] {500, 2_000, 10_000}) {
      Outcome outcome = outcome(arrivals, rowsPerEpoch);
      assertMeets(outcome);
      assertTrue(outcome.meanLag() < 1.15 * outcome.bestFixedLag(), outcome.toString());
    }
  }

  @Test
  void heavyTailedLatenessIsMet() {
    Arrivals arrivals = Arrivals.of(i -> u -> 0.5 * (Math.pow(1 - u, -1 / 1.8) - 1));
    for (int rowsPerEpoch : new int[] {500, 2_000, 10_000}) {
      Outcome outcome = outcome(arrivals, rowsPerEpoch);
      assertMeets(outcome);
      assertTrue(outcome.meanLag() < 1.4 * outcome.bestFixedLag(), outcome.toString());
    }
  }

  @Test
  void whereLatenessShiftsTheMeanLagIsBelowTheBestFixedOne() {
    Arrivals growing = Arrivals.of(i -> u -> (i < EVENTS / 2 ? 2 : 20) * u);
    Arrivals falling = Arrivals.of(i -> u -> (i < EVENTS / 2 ? 20 : 2) * u);
    for (int rowsPerEpoch : new int[] {500, 2_000, 10_000}) {
      Outcome outcome = outcome(growing, rowsPerEpoch);
      assertMeets(outcome);
      assertTrue(outcome.meanLag() < 0.7 * outcome.bestFixedLag(), outcome.toString());
      outcome = outcome(falling, rowsPerEpoch);
      assertMeets(outcome);
      assertTrue(outcome.meanLag() < outcome.bestFixedLag(), outcome.toString());
    }
  }

  @Test
  void shortEpochsAfterLongOnesDoNotLeaveMoreBehind() {
    Arrivals arrivals = Arrivals.of(i -> u -> 0.5 * (Math.pow(1 - u, -1 / 1.8) - 1));
    // Half a million rows of backlog, and then what comes.
    assertMeets(outcome(arrivals, epoch -> epoch < 10 ? 50_000 : 500, 500_000));
    assertMeets(outcome(arrivals, epoch -> epoch < 10 ? 50_000 : 500, WARM));
  }

  @Test
  void untilItIsWarmTheLagIsTheLongest() {
    Adaptive policy = adaptive();
    policy.learn(List.of(late(WARM - 1, 3)));
    assertEquals(AT_MOST, policy.lag());
    policy.learn(List.of(late(1, 3)));
    assertEquals(3 * SECOND, policy.lag(), 0.05 * SECOND);
  }

  @Test
  void theLagIsNeverLongerThanTheLongest() {
    Adaptive policy = new Adaptive(COMPLETENESS, 2 * SECOND, -1);
    policy.learn(List.of(late(50_000, 3_600)));
    assertEquals(2 * SECOND, policy.lag());
  }

  @Test
  void theWatermarkDoesNotGoBackWhenTheLagGrows() {
    Adaptive policy = adaptive();
    policy.poll(0, Map.of(0, new Position(1, 2)));
    policy.observe(0, 1_000 * SECOND);
    policy.learn(List.of(late(50_000, 1)));
    long before = policy.watermark();
    assertEquals(999 * SECOND, before, 0.05 * SECOND);
    policy.learn(List.of(late(50_000, 60)));
    assertTrue(policy.lag() > 50 * SECOND);
    assertEquals(before, policy.watermark());
    policy.observe(0, 1_100 * SECOND);
    assertEquals(1_100 * SECOND - policy.lag(), policy.watermark());
  }

  @Test
  void aRestartGoesOnWithTheSameLagAndTheSameFuture() throws Exception {
    Adaptive one = adaptive();
    Random random = new Random(3);
    for (int epoch = 0; epoch < 30; epoch++) {
      one.learn(List.of(late(1_000 + random.nextInt(5_000), 1 + random.nextInt(20))));
    }
    Adaptive other = adaptive();
    other.restore(new ObjectMapper().readTree(one.state().toString()));
    assertEquals(one.lag(), other.lag());
    for (int epoch = 0; epoch < 30; epoch++) {
      Lateness seen = late(1_000 + random.nextInt(5_000), 1 + random.nextInt(20));
      one.learn(List.of(seen));
      other.learn(List.of(seen));
      assertEquals(one.state(), other.state());
      assertEquals(one.lag(), other.lag());
    }
  }

  @Test
  void whatAnotherPolicyLeftTeachesNothingAndANewerVersionIsRefused() {
    Adaptive policy = adaptive();
    policy.learn(List.of(late(50_000, 1)));
    ObjectNode state = policy.state();
    policy.restore(null);
    assertEquals(AT_MOST, policy.lag());
    policy.restore(state.deepCopy().put("kind", "guess"));
    assertEquals(AT_MOST, policy.lag());
    policy.restore(state);
    assertEquals(SECOND, policy.lag(), 0.02 * SECOND);
    assertThrows(IllegalStateException.class, () -> policy.restore(state.deepCopy().put("version", 2)));
  }

  @Test
  void itTellsItsLagAndWhatItAchieved() {
    Adaptive policy = adaptive();
    Lateness seen = new Lateness(10 * SECOND, 9 * SECOND);
    for (int i = 0; i < 100; i++) {
      seen.observe((i < 10 ? 8 : 10) * SECOND);
    }
    policy.learn(List.of(seen));
    ObjectNode status = new ObjectMapper().createObjectNode();
    policy.describe(status);
    assertEquals(0.9, status.path("completeness").asDouble(), 1e-9);
    assertEquals(AT_MOST, status.path("lag").asLong());
    assertTrue(status.path("learning").asBoolean());
    assertEquals(10, status.path("behind").asLong());
  }

  @Test
  void whatCannotBeAskedForIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> new Adaptive(1, AT_MOST, -1));
    assertThrows(IllegalArgumentException.class, () -> new Adaptive(0.9, 0, -1));
  }
}
