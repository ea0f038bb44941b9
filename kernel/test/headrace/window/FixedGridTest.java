package headrace.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FixedGridTest {
  private static long start(Grid grid, long time) {
    return grid.boundary(grid.index(time));
  }

  private static long end(Grid grid, long time) {
    return grid.boundary(grid.index(time) + 1);
  }

  @Test
  void aWindowHoldsItsStartAndNotItsEnd() {
    Grid window = new FixedGrid(10, 3);
    assertEquals(3, start(window, 3));
    assertEquals(13, end(window, 3));
    assertEquals(3, start(window, 12));
    assertEquals(13, start(window, 13));
    assertEquals(-7, start(window, 2));
    assertEquals(-17, start(window, -8));
    assertEquals(-7, end(window, -8));
  }

  @Test
  void anOffsetMayBeNegativeOrMoreThanTheSize() {
    for (long time = -40; time < 40; time++) {
      assertEquals(start(new FixedGrid(10, 3), time), start(new FixedGrid(10, -7), time));
      assertEquals(start(new FixedGrid(10, 3), time), start(new FixedGrid(10, 23), time));
    }
  }

  @Test
  void theEndsOfTimeSaturate() {
    for (long offset : new long[] {0, 1, 3, 9}) {
      Grid window = new FixedGrid(10, offset);
      for (long distance = 0; distance < 30; distance++) {
        for (long time : new long[] {Long.MAX_VALUE - distance, Long.MIN_VALUE + distance}) {
          long start = start(window, time);
          long end = end(window, time);
          assertTrue(start <= time && (time < end || end == Long.MAX_VALUE));
          assertTrue(end - start <= 10 && end > start);
          assertEquals(start, start(window, start), "a start lies in its own window");
          if (start > Long.MIN_VALUE) {
            assertEquals(end, end(window, start), "a start tells its slice's end");
          }
        }
      }
    }
  }
}
