package headrace.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.clock.policy.Lateness;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MaximaTest {
  @Test
  void keepsTheHighestPerSourceAndPartition() {
    Maxima maxima = new Maxima();
    assertTrue(maxima.isZero());
    maxima.observe(1, 2, 50);
    maxima.observe(1, 2, 40);
    maxima.observe(0, 0, -7);
    assertFalse(maxima.isZero());
    assertEquals(Map.of(0, Map.of(0, -7L), 1, Map.of(2, 50L)), maxima.value());
  }

  @Test
  void aTaskReportedTwiceChangesNothing() {
    Maxima all = new Maxima();
    Maxima task = new Maxima();
    task.observe(0, 1, 10);
    all.observe(0, 0, 5);
    all.merge(task);
    Map<Integer, Map<Integer, Long>> once = all.value();
    all.merge(task);
    assertEquals(once, all.value());
    assertEquals(Map.of(0, Map.of(0, 5L, 1, 10L)), once);
  }

  @Test
  void aCopyIsApartAndAResetIsZero() {
    Maxima maxima = new Maxima();
    maxima.observe(0, 0, 5);
    Maxima copy = maxima.copy();
    maxima.observe(0, 0, 6);
    assertEquals(Map.of(0, Map.of(0, 5L)), copy.value());
    maxima.reset();
    assertTrue(maxima.isZero());
  }

  private static Lateness rows(long... times) {
    Lateness seen = new Lateness(100, 90);
    for (long time : times) {
      seen.observe(time);
    }
    return seen;
  }

  @Test
  void latenessThatIsReportedAgainReplacesWhatWasReported() {
    Maxima all = new Maxima();
    Maxima first = new Maxima();
    first.observe(new Maxima.Part(5, 0, 1, 20), rows(80, 95));
    // The task is tried again: Spark merges what both attempts report.
    Maxima again = new Maxima();
    again.observe(new Maxima.Part(5, 0, 1, 20), rows(80, 95));
    Maxima other = new Maxima();
    other.observe(new Maxima.Part(5, 0, 2, 7), rows(99));
    all.merge(first);
    all.merge(other);
    all.merge(again);
    all.merge(first);
    assertFalse(all.isZero());
    List<Lateness> taken = all.take(5).get(0);
    assertEquals(List.of(2L, 1L), taken.stream().map(Lateness::rows).toList());
    assertEquals(1, taken.get(0).behind());
  }

  @Test
  void aStragglerOfAnEpochThatWasTakenIsDropped() {
    Maxima all = new Maxima();
    all.observe(new Maxima.Part(5, 0, 1, 20), rows(80));
    assertEquals(1, all.take(5).get(0).size());
    all.observe(new Maxima.Part(5, 0, 1, 20), rows(80));
    all.observe(new Maxima.Part(6, 0, 1, 21), rows(81, 82));
    assertEquals(2, all.take(6).get(0).get(0).rows());
    assertEquals(Map.of(), all.take(6));
    assertTrue(all.isZero());
  }

  @Test
  void aCopyHasTheLatenessAndAResetHasNot() {
    Maxima maxima = new Maxima();
    maxima.observe(new Maxima.Part(1, 0, 0, 0), rows(80));
    Maxima copy = maxima.copy();
    maxima.reset();
    assertTrue(maxima.isZero());
    assertEquals(1, copy.take(1).get(0).size());
  }
}
