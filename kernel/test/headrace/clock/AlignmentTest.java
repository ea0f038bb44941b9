package headrace.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.clock.Alignment.Progress;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class AlignmentTest {
  private static final long MINUTE = 60_000_000;
  private static final long BOUND = 10 * MINUTE;
  private static final Set<String> BOTH = Set.of("fast", "slow");

  private static Map<String, Progress> at(long fast, Progress slow) {
    return Map.of("fast", new Progress(fast, true), "slow", slow);
  }

  @Test
  void theFastOneWaitsBeyondTheBoundAndTheSlowOneNever() {
    Map<String, Progress> far = at(30 * MINUTE, new Progress(19 * MINUTE, true));
    assertTrue(Alignment.held("fast", far, BOTH, BOUND));
    assertFalse(Alignment.held("slow", far, BOTH, BOUND));
    assertFalse(Alignment.held("fast", at(29 * MINUTE, new Progress(19 * MINUTE, true)), BOTH, BOUND));
  }

  @Test
  void whoWillBeCaughtUpAtOnceOrWasNeverHeardOfHoldsNobody() {
    assertFalse(Alignment.held("fast", at(90 * MINUTE, new Progress(MINUTE, false)), BOTH, BOUND));
    assertFalse(Alignment.held("fast", at(90 * MINUTE, new Progress(EpochWatermarks.NONE, true)), BOTH, BOUND));
    assertFalse(Alignment.held("fast", Map.of("fast", new Progress(90 * MINUTE, true)), BOTH, BOUND));
  }

  @Test
  void whoIsNeverHeardOfNeverWaits() {
    Map<String, Progress> unheard = at(EpochWatermarks.NONE, new Progress(MINUTE, true));
    assertFalse(Alignment.held("fast", unheard, BOTH, BOUND));
  }

  @Test
  void onlySourcesOfACommonStepAreAligned() {
    Map<String, Progress> far = at(90 * MINUTE, new Progress(MINUTE, true));
    assertFalse(Alignment.held("fast", far, Set.of("fast"), BOUND));
  }

  @Test
  void aBoundOfNothingIsOff() {
    assertFalse(Alignment.held("fast", at(90 * MINUTE, new Progress(MINUTE, true)), BOTH, 0));
  }

  @Test
  void timesFromBothEndsOfTheScaleDoNotWrapAround() {
    Map<String, Progress> far = at(Long.MAX_VALUE - 1, new Progress(EpochWatermarks.NONE + 1, true));
    assertTrue(Alignment.held("fast", far, BOTH, BOUND));
    assertFalse(Alignment.held("slow", far, BOTH, BOUND));
  }

  @Test
  void someSourceWithUnreadRowsAlwaysGoesOn() {
    Random random = new Random(1);
    for (int round = 0; round < 20_000; round++) {
      Map<String, Progress> progress = new TreeMap<>();
      for (int source = 0; source < 1 + random.nextInt(5); source++) {
        long time = random.nextInt(4) == 0 ? EpochWatermarks.NONE : random.nextInt(100) * MINUTE;
        progress.put("source" + source, new Progress(time, random.nextBoolean()));
      }
      // Which sources have a step in common is any relation at all.
      Map<String, Set<String>> together = new TreeMap<>();
      progress.keySet().forEach(one -> {
        Set<String> others = new TreeSet<>(progress.keySet());
        others.removeIf(other -> random.nextInt(3) == 0);
        together.put(one, others);
      });
      long held =
          progress.keySet().stream().filter(one -> Alignment.held(one, progress, together.get(one), BOUND)).count();
      assertTrue(held < progress.size(), progress + " " + together);
    }
  }

  @Test
  void aSpecKnowsWhichSourcesHaveAStepInCommon() {
    String source = "{\"name\":\"%s\",\"index\":%d,\"policy\":{\"kind\":\"perfect\"}}";
    ClockSpec spec =
        ClockSpec.parse(
            "{\"checkpoint\":\"file:/x\",\"align\":5,\"sources\":["
                + String.join(",", String.format(source, "a", 0), String.format(source, "b", 1),
                    String.format(source, "c", 2), String.format(source, "d", 3))
                + "],\"programs\":[{\"id\":1,\"sources\":[\"a\",\"b\"],\"groups\":[]},"
                + "{\"id\":2,\"sources\":[\"b\",\"c\"],\"groups\":[]}]}");
    assertEquals(5, spec.align());
    assertEquals(Set.of("a", "b"), spec.together("a"));
    assertEquals(Set.of("a", "b", "c"), spec.together("b"));
    assertEquals(Set.of(), spec.together("d"));
  }
}
