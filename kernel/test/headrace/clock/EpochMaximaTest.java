package headrace.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import headrace.clock.policy.Lateness;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class EpochMaximaTest {
  @Test
  void readsWhatItFormats() {
    Map<Integer, EpochMaxima.Source> sources =
        Map.of(
            3, new EpochMaxima.Source(-5, new TreeMap<>(Map.of(0, 70L, 12, EpochWatermarks.NONE))),
            0, new EpochMaxima.Source(EpochWatermarks.NONE, Map.of()));
    String text = EpochMaxima.format(new TreeMap<>(sources));
    assertEquals("0|-9223372036854775808|;3|-5|0=70,12=-9223372036854775808", text);
    assertEquals(sources, EpochMaxima.parse(text));
  }

  @Test
  void aTaskMeasuresAgainstWhatWasKnownWhenTheEpochBegan() {
    EpochMaxima known = new EpochMaxima(4, Map.of(1, new EpochMaxima.Source(60, Map.of(0, 70L))));
    Lateness seen = known.begin(1, 0);
    seen.observe(65);
    seen.observe(59);
    assertEquals(70, seen.max());
    assertEquals(1, seen.behind());
    assertEquals(EpochWatermarks.NONE, known.begin(1, 1).max());
    assertNull(known.begin(0, 0));
  }

  @Test
  void outsideOfAnEpochNothingIsLearned() {
    assertNull(EpochMaxima.ofTask().begin(0, 0));
  }
}
