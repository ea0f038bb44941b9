package headrace.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ClockOffsetTest {
  @Test
  void holdsOnlyWatermarksAndTheTick() {
    ClockOffset offset =
        new ClockOffset(
            new TreeMap<>(Map.of("b", 2L, "a", EpochWatermarks.NONE)), new TreeMap<>(Map.of(10, 2L, 9, 1L)), 17);
    assertEquals(
        "{\"watermarks\":{\"a\":-9223372036854775808,\"b\":2},\"programs\":{\"9\":1,\"10\":2},\"tick\":17}",
        offset.json());
    assertEquals(offset, ClockOffset.parse(offset.json()));
  }

  @Test
  void aProgramsWatermarkIsTheLeastOfItsSources() {
    assertEquals(2, watermark(Map.of("a", 5L, "b", 2L), Map.of(), "a", "b"));
    assertEquals(5, watermark(Map.of("a", 5L, "b", 2L), Map.of(), "a"));
    assertEquals(EpochWatermarks.NONE, watermark(Map.of("a", 5L, "b", 2L), Map.of(), "a", "new"));
  }

  @Test
  void aProgramsWatermarkNeverGoesBack() {
    // A source without a watermark yet, or with an earlier one, has joined it.
    assertEquals(5, watermark(Map.of("a", 5L), Map.of(1, 5L), "a", "new"));
    assertEquals(5, watermark(Map.of("a", 9L, "b", 2L), Map.of(1, 5L), "a", "b"));
    assertEquals(7, watermark(Map.of("a", 9L, "b", 7L), Map.of(1, 5L), "a", "b"));
  }

  @Test
  void aTableThatIsReadToItsEndHoldsNothing() {
    Map<String, Long> sources = Map.of("a", 5L, "table", 2L, "other", 3L);
    assertEquals(5, watermark(sources, Set.of("table"), Map.of(), "a", "table"));
    assertEquals(2, watermark(sources, Set.of("other"), Map.of(), "a", "table", "other"), "one is still being read");
    assertEquals(3, watermark(sources, Set.of("table", "other"), Map.of(), "table", "other"), "none holds: the furthest is where time is");
    assertEquals(5, watermark(sources, Set.of(), Map.of(1, 5L), "a", "table"), "new rows of a table do not turn time back");
  }

  private static long watermark(Map<String, Long> sources, Map<Integer, Long> before, String... upstream) {
    return watermark(sources, Set.of(), before, upstream);
  }

  private static long watermark(Map<String, Long> sources, Set<String> free, Map<Integer, Long> before, String... upstream) {
    ClockSpec.Program program = new ClockSpec.Program(1, 0, List.of(upstream), new int[0], List.of(), List.of());
    return Clock.programs(sources, free, before, List.of(program)).get(1);
  }

  @Test
  void aSpecThatIsWrongIsRefusedWithWhatIsWrong() {
    String spec =
        "{\"checkpoint\":\"file:/x\",\"sources\":[{\"name\":\"a\",\"index\":0,\"policy\":{\"kind\":\"guess\"}}]}";
    assertEquals(
        "There is no watermark policy \"guess\"; there are \"bounded\", \"adaptive\", \"perfect\", \"punctuated\", "
            + "\"processing-time\" and \"manual\".",
        assertThrows(IllegalArgumentException.class, () -> ClockSpec.parse(spec)).getMessage());
  }
}
