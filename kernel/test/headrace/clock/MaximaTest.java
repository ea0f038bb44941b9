package headrace.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
}
