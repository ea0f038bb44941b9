package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.operator.LayerSpec;
import headrace.state.MemoryCells;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/** What patterns cost and keep, and what becomes of too many partial matches; what they find is in the transcripts. */
class MatchPatternTest {
  private static final long SECOND = 1_000_000;
  private static final int OUT = 1;
  private static final int A = 1;
  private static final int B = 2;
  private static final int C = 4;
  private static final StructType KEY = new StructType().add("k", DataTypes.StringType);
  private static final StructType EVENT = new StructType().add("k", DataTypes.StringType).add("v", DataTypes.LongType);
  private static final StructType ROW = new StructType().add("__conditions", DataTypes.LongType).add("v", DataTypes.LongType);
  private static final UnsafeProjection EXITS = UnsafeProjection.create(new StructType().add("time", DataTypes.TimestampType)
      .add("key", KEY).add("inputs", new StructType()).add("row", ROW));

  private final MemoryCells cells = new MemoryCells();
  private long time;
  private Epoch epoch;

  /** The a, then any combination of b, then a c; or as it is told. */
  private static Program program(String elements, int most, String then) {
    StructType output = new StructType().add("k", DataTypes.StringType).add("start", DataTypes.TimestampType)
        .add("end", DataTypes.TimestampType);
    for (String step : List.of("a", "b", "c")) {
      output = output.add(step, new ArrayType(EVENT, true));
    }
    return LayerSpec.parse("{\"programs\": [{\"id\": 1, \"name\": \"found\", \"groups\": [0], \"port\": " + OUT + ", \"key\": " + KEY.json()
        + ", \"inputs\": " + new StructType().json() + ", \"aggregates\": [], \"sides\": [{\"row\": " + ROW.json() + "}], \"output\": "
        + output.json() + ", \"matching\": {\"directions\": [], \"elements\": [0, 2], \"slice\": " + SECOND
        + ", \"pattern\": {\"steps\": [\"a\", \"b\", \"c\"], \"elements\": [" + elements + "], \"skip\": {\"kind\": \"no_skip\"}, "
        + "\"limit\": {\"most\": " + most + ", \"then\": \"" + then + "\"}}}}]}").program(1);
  }

  private static String step(int number, String contiguity, String to, String inner) {
    return "{\"step\": " + number + ", \"condition\": " + number + ", \"contiguity\": \"" + contiguity + "\", \"from\": 1, \"to\": " + to
        + ", \"inner\": \"" + inner + "\"}";
  }

  private static String combinations() {
    return step(0, "relaxed", "1", "relaxed") + ", " + step(1, "any", "null", "any") + ", " + step(2, "relaxed", "1", "relaxed");
  }

  private static String strict() {
    return step(0, "strict", "1", "relaxed") + ", " + step(1, "strict", "1", "relaxed") + ", " + step(2, "strict", "1", "relaxed");
  }

  private void begin() {
    epoch = new Epoch(0, cells, time, Context.NO_WATERMARK);
  }

  private void add(String key, int conditions) {
    time += SECOND;
    byte[] exit = EXITS.apply(new GenericInternalRow(new Object[] {time, new GenericInternalRow(new Object[] {UTF8String.fromString(key)}),
        new GenericInternalRow(new Object[0]), new GenericInternalRow(new Object[] {(long) conditions, time / SECOND})})).copy().getBytes();
    epoch.add(0, 0, 0, time, time, exit);
  }

  private List<Output> run(Step step) {
    epoch.tick(time + 1, 0);
    List<Output> outputs = new ArrayList<>();
    epoch.run(step).forEachRemaining(outputs::add);
    return outputs;
  }

  private long bytes() {
    long bytes = 0;
    for (Map.Entry<byte[], byte[]> cell : (Iterable<Map.Entry<byte[], byte[]>>) cells::scan) {
      bytes += cell.getValue().length;
    }
    return bytes;
  }

  @Test
  void aCombinatorialPatternStopsAtItsLimit() {
    Step step = Steps.of(program(combinations(), 10_000, "drop_oldest"));
    begin();
    add("hot", A);
    for (int number = 0; number < 200; number++) {
      add("hot", B);
    }
    assertEquals(0, run(step).size());
    long given = epoch.ledger().givenUp;
    // 2 to the power of 13 is less than the limit, 2 to the power of 14 is more; each event behind that doubles 10,000.
    assertTrue(given > 180 * 9_000L, given + " were given up");
    assertEquals(201, epoch.ledger().used);
    begin();
    add("hot", C);
    assertTrue(run(step).size() <= 10_000);
  }

  @Test
  void theOldestGo() {
    Step step = Steps.of(program(strict().replace("strict", "relaxed"), 3, "drop_oldest"));
    begin();
    for (int number = 1; number <= 5; number++) {
      add("k", A);
    }
    run(step);
    assertEquals(2, epoch.ledger().givenUp);
    begin();
    add("k", B);
    add("k", C);
    assertEquals(List.of(3L, 4L, 5L), begun(run(step)));
  }

  @Test
  void theNewestDoNotBegin() {
    Step step = Steps.of(program(strict().replace("strict", "relaxed"), 3, "drop_newest"));
    begin();
    for (int number = 1; number <= 5; number++) {
      add("k", A);
    }
    run(step);
    assertEquals(2, epoch.ledger().givenUp);
    begin();
    add("k", B);
    add("k", C);
    assertEquals(List.of(1L, 2L, 3L), begun(run(step)));
  }

  @Test
  void orThePipelineStops() {
    Step step = Steps.of(program(strict(), 1, "fail"));
    begin();
    add("k", A);
    add("k", A | B);
    IllegalStateException stopped = assertThrows(IllegalStateException.class, () -> run(step));
    assertTrue(stopped.getMessage().contains("max_partial"), stopped.getMessage());
  }

  @Test
  void whatCannotBeginLeavesNothing() {
    Step step = Steps.of(program(strict(), 10, "drop_oldest"));
    begin();
    for (int number = 0; number < 1_000; number++) {
      add("key-" + number, number % 2 == 0 ? B : C);
    }
    assertEquals(0, run(step).size());
    assertTrue(cells.isEmpty(), cells.toString());
  }

  @Test
  void keysWithPartialMatchesShareTheirPages() {
    Step step = Steps.of(program(strict(), 10, "drop_oldest"));
    begin();
    for (int number = 0; number < 2_000; number++) {
      add("key-" + number, A);
    }
    run(step);
    assertTrue(cells.size() < 200, cells.toString());
    begin();
    for (int number = 0; number < 2_000; number++) {
      add("key-" + number, B);
    }
    for (int number = 0; number < 2_000; number++) {
      add("key-" + number, C);
    }
    assertEquals(2_000, run(step).size());
    assertTrue(cells.isEmpty(), cells.toString());
  }

  @Test
  void aPartialMatchCostsAFewBytesAndNoCopyOfItsRows() {
    Step step = Steps.of(program(combinations(), 10_000, "drop_oldest"));
    begin();
    add("hot", A);
    for (int number = 0; number < 13; number++) {
      add("hot", B);
    }
    run(step);
    double each = (double) bytes() / (1 << 13);
    assertTrue(each < 16, each + " bytes a partial match");
  }

  private static List<Long> begun(List<Output> outputs) {
    return outputs.stream().map(output -> Events.row(output, 6).getLong(1) / SECOND).sorted().toList();
  }
}
