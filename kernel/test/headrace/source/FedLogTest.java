package headrace.source;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.api.Test;

class FedLogTest {
  @Test
  void anEpochTakesRowsInTheOrderTheyWereFed() {
    FedLog log = new FedLog("a");
    for (int partition : new int[] {0, 0, 1, 0, 1}) {
      log.append(partition, null, null, 0);
    }
    log.rowsPerEpoch(2);
    assertEquals(Map.of(0, 2L, 1, 0L), log.epochEnd(Map.of(0, 0L, 1, 0L), log.end()));
    assertEquals(Map.of(0, 3L, 1, 1L), log.epochEnd(Map.of(0, 2L, 1, 0L), log.end()));
    assertEquals(Map.of(0, 3L, 1, 2L), log.epochEnd(Map.of(0, 3L, 1, 1L), log.end()));
    assertEquals(Map.of(0, 2L, 1, 1L), log.epochEnd(Map.of(0, 1L), Map.of(0, 2L, 1, 1L)));
  }
}
