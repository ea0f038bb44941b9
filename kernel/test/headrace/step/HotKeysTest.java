package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.aggregate.Partials;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class HotKeysTest {
  private static final UnsafeProjection KEYS = UnsafeProjection.create(new StructType().add("k", DataTypes.StringType));
  private static final int ROWS = 100_000;

  private static Map<String, Long> told(int rows, IntFunction<String> keys) {
    HotKeys hot = new HotKeys();
    for (int row = 0; row < rows; row++) {
      UnsafeRow key = KEYS.apply(new GenericInternalRow(new Object[] {UTF8String.fromString(keys.apply(row))}));
      hot.row(Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes()), key);
    }
    Map<String, Long> found = new TreeMap<>();
    UnsafeRow key = new UnsafeRow(1);
    hot.tell((bytes, count) -> {
      key.pointTo(bytes, bytes.length);
      found.put(key.getUTF8String(0).toString(), count);
    });
    return found;
  }

  private static List<String> shown(int rows, IntFunction<String> keys) {
    Ledger ledger = new Ledger();
    ledger.in = rows;
    told(rows, keys).forEach(ledger::hot);
    Ledger arrived = new Ledger();
    arrived.add(ledger.write(7));
    assertEquals(rows, arrived.in);
    return arrived.hot().stream().map(Ledger.Hot::key).toList();
  }

  @Test
  void firstRowsAreCounted() {
    assertEquals(Map.of("a", 300L, "b", 700L), told(1_000, row -> row % 10 < 3 ? "a" : "b"));
  }

  @Test
  void theShareOfAHotKeyAmongMillionsOfOthersIsFound() {
    Random random = new Random(1);
    Map<String, Long> told = told(ROWS, row -> random.nextInt(10) < 3 ? "hot" : "cold-" + row);
    assertEquals(0.3, (double) told.get("hot") / ROWS, 0.04);
    assertTrue(told.size() < HotKeys.KEPT, () -> told.size() + " are told");
  }

  @Test
  void aKeyThatBecomesHotLateIsFound() {
    assertEquals(List.of("hot"), shown(ROWS, row -> row > ROWS / 2 && row % 3 == 0 ? "hot" : "cold-" + row));
  }

  @Test
  void evenKeysAreNotShown() {
    for (int keys : new int[] {20, 31, 64, 1_000, ROWS}) {
      Random random = new Random(keys);
      assertEquals(List.of(), shown(ROWS, row -> "key-" + row % keys), () -> keys + " in turn");
      assertEquals(List.of(), shown(ROWS, row -> "key-" + random.nextInt(keys)), () -> keys + " by chance");
    }
  }

  @Test
  void keysInTurnDoNotFallInStepWithTheSample() {
    Map<String, Long> told = told(ROWS, row -> "key-" + row % 8);
    assertEquals(8, told.size());
    told.values().forEach(rows -> assertEquals(ROWS / 8.0, rows, ROWS * 0.03));
  }

  @Test
  void ofFewRowsNothingIsShown() {
    assertEquals(List.of(), shown(999, row -> "only"));
    assertEquals(List.of("only"), shown(1_000, row -> "only"));
  }

  @Test
  void theHottestComesFirstAndTasksAddUp() {
    Ledger all = new Ledger();
    for (int task = 0; task < 4; task++) {
      Ledger ledger = new Ledger();
      ledger.in = 1_000;
      // In no task is it the hottest.
      ledger.hot("everywhere", 150);
      ledger.hot("in task " + task, 200);
      all.add(ledger);
    }
    assertEquals(List.of(new Ledger.Hot("everywhere", 0.15)), all.hot());
    all.hot("in task 2", 1_000);
    assertEquals(List.of("in task 2", "everywhere"), all.hot().stream().map(Ledger.Hot::key).toList());
  }

  @Test
  void aVeryLongKeyIsNotKept() {
    String longest = "x".repeat(2 * HotKeys.LONGEST);
    assertEquals(Map.of("short", 500L), told(1_000, row -> row % 2 == 0 ? longest : "short"));
  }
}
