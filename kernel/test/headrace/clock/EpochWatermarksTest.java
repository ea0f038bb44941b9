package headrace.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.junit.jupiter.api.Test;

class EpochWatermarksTest {
  @Test
  void readsWhatItFormats() {
    String text = EpochWatermarks.format(Map.of(12, 34L, 2, EpochWatermarks.NONE, 1, EpochWatermarks.END));
    assertEquals("1=9223372036854775807;2=-9223372036854775808;12=34", text);
    assertEquals(EpochWatermarks.END, EpochWatermarks.of(text, 1));
    assertEquals(EpochWatermarks.NONE, EpochWatermarks.of(text, 2));
    assertEquals(34, EpochWatermarks.of(text, 12));
    assertEquals(EpochWatermarks.NONE, EpochWatermarks.of(text, 3));
    assertEquals(EpochWatermarks.NONE, EpochWatermarks.of("", 3));
  }

  @Test
  void outsideATaskItSaysSo() {
    assertThrows(IllegalStateException.class, EpochWatermarks::text);
  }
}
