package headrace.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ClockOffsetTest {
  @Test
  void holdsOnlyWatermarksAndTheTick() {
    ClockOffset offset = new ClockOffset(new TreeMap<>(Map.of("b", 2L, "a", EpochWatermarks.NONE)), 17);
    assertEquals("{\"watermarks\":{\"a\":-9223372036854775808,\"b\":2},\"tick\":17}", offset.json());
    assertEquals(offset, ClockOffset.parse(offset.json()));
  }

  @Test
  void aProgramsWatermarkIsTheLeastOfItsSources() {
    ClockOffset offset = new ClockOffset(new TreeMap<>(Map.of("a", 5L, "b", 2L)), 17);
    assertEquals(2, Clock.watermark(offset, new ClockSpec.Program(1, java.util.List.of("a", "b"), new int[0])));
    assertEquals(5, Clock.watermark(offset, new ClockSpec.Program(1, java.util.List.of("a"), new int[0])));
    assertEquals(
        EpochWatermarks.NONE,
        Clock.watermark(offset, new ClockSpec.Program(1, java.util.List.of("a", "new"), new int[0])));
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
