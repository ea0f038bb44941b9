package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TumblingWindowTest {
  @Test
  void aWindowHoldsItsStartAndNotItsEnd() {
    TumblingWindow window = new TumblingWindow(10, 3);
    assertEquals(3, window.start(3));
    assertEquals(13, window.end(3));
    assertEquals(3, window.start(12));
    assertEquals(13, window.start(13));
    assertEquals(-7, window.start(2));
    assertEquals(-17, window.start(-8));
    assertEquals(-7, window.end(-8));
  }

  @Test
  void anOffsetMayBeNegativeOrMoreThanTheSize() {
    for (long time = -40; time < 40; time++) {
      assertEquals(new TumblingWindow(10, 3).start(time), new TumblingWindow(10, -7).start(time));
      assertEquals(new TumblingWindow(10, 3).start(time), new TumblingWindow(10, 23).start(time));
    }
  }

  @Test
  void theEndsOfTimeSaturate() {
    for (long offset : new long[] {0, 1, 3, 9}) {
      TumblingWindow window = new TumblingWindow(10, offset);
      for (long distance = 0; distance < 30; distance++) {
        for (long time : new long[] {Long.MAX_VALUE - distance, Long.MIN_VALUE + distance}) {
          long start = window.start(time);
          long end = window.end(time);
          assertTrue(start <= time && (time < end || end == Long.MAX_VALUE));
          assertTrue(end - start <= 10 && end > start);
          assertEquals(start, window.start(start), "a start lies in its own window");
          assertEquals(end, window.end(start), "a start tells its window's end");
        }
      }
    }
  }
}
