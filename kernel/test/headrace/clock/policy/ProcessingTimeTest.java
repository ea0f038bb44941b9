package headrace.clock.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import headrace.clock.EpochWatermarks;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProcessingTimeTest {
  private static final long SECOND = 1_000_000;

  @Test
  void movesInStepsOfTheWallClockAndNeverBack() {
    ProcessingTime policy = new ProcessingTime(2 * SECOND, 5 * SECOND);
    assertEquals(EpochWatermarks.NONE, policy.watermark());
    policy.tick(1_001_999);
    assertEquals(995 * SECOND, policy.watermark());
    policy.tick(1_002_000);
    assertEquals(1_000 * SECOND, policy.watermark());
    policy.tick(1_006_999);
    assertEquals(1_000 * SECOND, policy.watermark());
    policy.tick(900_000);
    assertEquals(1_000 * SECOND, policy.watermark());
  }

  @Test
  void neitherRowsNorBacklogNorSilenceMoveIt() {
    ProcessingTime policy = new ProcessingTime(0, SECOND);
    policy.tick(100_000);
    policy.observe(0, 5_000 * SECOND);
    policy.poll(9_999_999, Map.of(0, new Position(1, 100)));
    assertEquals(100 * SECOND, policy.watermark());
    assertEquals(Policy.Standing.LAGGING, policy.standings().get(0));
  }

  @Test
  void goesOnFromWhatWasLogged() {
    ProcessingTime policy = new ProcessingTime(0, SECOND);
    policy.atLeast(200 * SECOND);
    policy.tick(100_000);
    assertEquals(200 * SECOND, policy.watermark());
  }

  @Test
  void stepsAreLongerThanNothing() {
    assertThrows(IllegalArgumentException.class, () -> new ProcessingTime(0, 0));
    assertThrows(IllegalArgumentException.class, () -> new ProcessingTime(-1, 1));
  }
}
