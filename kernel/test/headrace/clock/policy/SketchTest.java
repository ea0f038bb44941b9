package headrace.clock.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SketchTest {
  private static final long SECOND = 1_000_000;

  /** Rows of these latenesses, behind one row that is in order. */
  private static Lateness late(long... micros) {
    Lateness seen = new Lateness(0, Long.MIN_VALUE);
    for (long each : micros) {
      seen.observe(-each);
    }
    return seen;
  }

  private static Sketch sketch(long... micros) {
    Sketch sketch = new Sketch();
    sketch.add(late(micros));
    return sketch;
  }

  private static long[] random(int seed, int rows) {
    Random random = new Random(seed);
    // From a microsecond to months, each magnitude as likely as the next.
    return random.doubles(rows, 0, 13).mapToLong(exponent -> (long) Math.pow(10, exponent)).toArray();
  }

  @Test
  void latenessIsWhatARowIsBelowTheHighestBeforeItInItsPartition() {
    Lateness seen = new Lateness(100 * SECOND, 95 * SECOND);
    for (long at : new long[] {101, 99, 94, 103, 103, 100}) {
      seen.observe(at * SECOND);
    }
    assertEquals(6, seen.rows());
    assertEquals(1, seen.behind());
    assertEquals(103 * SECOND, seen.max());
    Sketch sketch = new Sketch();
    sketch.add(seen);
    // In order, 2 s, 7 s, in order, in order, 3 s.
    assertWithin(0, sketch.quantile(0.5));
    assertWithin(2 * SECOND, sketch.quantile(0.6));
    assertWithin(3 * SECOND, sketch.quantile(0.8));
    assertWithin(7 * SECOND, sketch.quantile(0.999));
  }

  @Test
  void theFirstRowOfAPartitionIsInOrder() {
    Lateness seen = new Lateness(Long.MIN_VALUE, Long.MIN_VALUE);
    seen.observe(Long.MIN_VALUE + 5);
    Sketch sketch = new Sketch();
    sketch.add(seen);
    assertEquals(0, sketch.quantile(0.999));
  }

  @Test
  void timesFromBothEndsOfTheScaleDoNotWrapAround() {
    Lateness seen = new Lateness(Long.MAX_VALUE, Long.MIN_VALUE);
    seen.observe(Long.MIN_VALUE);
    Sketch sketch = new Sketch();
    sketch.add(seen);
    assertTrue(sketch.quantile(0.5) > 100L * 365 * 86_400 * SECOND);
  }

  @Test
  void everyQuantileIsNeverTooShortAndLessThanOnePercentTooLong() {
    for (int seed = 0; seed < 20; seed++) {
      long[] all = random(seed, 5_000);
      Sketch sketch = sketch(all);
      Arrays.sort(all);
      for (double share : new double[] {0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
        long exact = all[(int) Math.ceil(share * all.length) - 1];
        assertWithin(exact, sketch.quantile(share));
      }
    }
  }

  /** Below a millisecond it is a millisecond. */
  private static void assertWithin(long exact, long found) {
    assertTrue(found >= exact, found + " is shorter than " + exact);
    assertTrue(found <= Math.max(exact * 1.01, 1_000), found + " is more than 1 % longer than " + exact);
  }

  @Test
  void mergingIsAssociativeAndCommutativeAndTheSameAsSeeingAllAtOnce() {
    List<long[]> parts = List.of(random(1, 1_000), random(2, 3_000), random(3, 10));
    Sketch left = sketch(parts.get(0));
    left.merge(sketch(parts.get(1)));
    left.merge(sketch(parts.get(2)));
    Sketch inner = sketch(parts.get(2));
    inner.merge(sketch(parts.get(1)));
    Sketch right = inner;
    right.merge(sketch(parts.get(0)));
    Sketch whole = sketch(parts.stream().flatMapToLong(Arrays::stream).toArray());
    assertEquals(whole.write(), left.write());
    assertEquals(whole.write(), right.write());
    assertEquals(4_010, whole.weight());
  }

  @Test
  void whatHasFadedIsForgotten() {
    Sketch sketch = sketch(random(1, 1_000));
    sketch.fade(0.5);
    assertEquals(500, sketch.weight(), 0.01);
    for (int i = 0; i < 40; i++) {
      sketch.fade(0.5);
    }
    assertEquals(0, sketch.weight());
    assertEquals("", sketch.write());
    assertEquals(0, sketch.quantile(0.999));
  }

  @Test
  void newRowsOutweighOldOnes() {
    long[] old = new long[1_000];
    Arrays.fill(old, 60 * SECOND);
    long[] fresh = new long[1_000];
    Arrays.fill(fresh, SECOND);
    Sketch sketch = sketch(old);
    sketch.fade(0.01);
    sketch.add(late(fresh));
    assertWithin(SECOND, sketch.quantile(0.98));
    assertWithin(60 * SECOND, sketch.quantile(0.999));
  }

  @Test
  void beyondACapIsOneBucket() {
    Sketch sketch = sketch(SECOND, 3 * SECOND, 50 * SECOND, 90_000 * SECOND);
    sketch.cap(10 * SECOND);
    assertEquals(4, sketch.weight());
    assertWithin(3 * SECOND, sketch.quantile(0.5));
    assertTrue(sketch.quantile(0.999) > 10 * SECOND);
    assertTrue(sketch.quantile(0.999) < 11 * SECOND);
    assertEquals(0.5, sketch.beyond(10 * SECOND));
  }

  @Test
  void readsWhatItWrites() {
    Sketch sketch = sketch(random(4, 2_000));
    sketch.fade(0.37);
    assertEquals(sketch.write(), Sketch.read(sketch.write()).write());
    assertEquals(sketch.quantile(0.9), Sketch.read(sketch.write()).quantile(0.9));
  }
}
