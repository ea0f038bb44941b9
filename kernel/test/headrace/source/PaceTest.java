package headrace.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PaceTest {
  @Test
  void aFullEpochThatWasQuickAllowsTwiceAsMuchAtMost() {
    Pace pace = Pace.adaptive(100_000, 2_000);
    pace.adapt(100_000, 100);
    assertEquals(200_000, pace.rows());
    pace.adapt(200_000, 1_600);
    assertEquals(250_000, pace.rows());
  }

  @Test
  void aSlowEpochAllowsHalfAtLeast() {
    Pace pace = Pace.adaptive(100_000, 2_000);
    pace.adapt(100_000, 60_000);
    assertEquals(50_000, pace.rows());
  }

  @Test
  void anEpochThatWasNotFullSaysNothingAboutMore() {
    Pace pace = Pace.adaptive(100_000, 2_000);
    pace.adapt(10, 100);
    pace.adapt(50_000, 1);
    assertEquals(100_000, pace.rows());
    pace.adapt(0, 1);
    assertEquals(100_000, pace.rows());
  }

  @Test
  void staysBetweenItsBounds() {
    Pace pace = Pace.adaptive(100_000, 2_000);
    for (int i = 0; i < 40; i++) {
      pace.adapt(pace.rows(), 600_000);
    }
    assertEquals(Pace.LEAST, pace.rows());
    for (int i = 0; i < 40; i++) {
      pace.adapt(pace.rows(), 1);
    }
    assertEquals(Pace.MOST, pace.rows());
  }

  @Test
  void settlesWhereAnEpochTakesTheTarget() {
    Pace pace = Pace.adaptive(100_000, 2_000);
    for (int i = 0; i < 20; i++) {
      pace.adapt(pace.rows(), 100 + pace.rows() / 400);
    }
    long millis = 100 + pace.rows() / 400;
    assertTrue(Math.abs(millis - 2_000) < 100, millis + " ms");
  }

  @Test
  void fixedIsFixed() {
    Pace pace = Pace.fixed(7);
    pace.adapt(7, 1);
    pace.adapt(7, 1_000_000);
    assertEquals(7, pace.rows());
  }
}
