package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.state.MemoryCells;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins of tables on the machine alone: after every epoch the changes so far make what two nested loops make of the rows that are there. */
class TableJoinTest {
  private static final int OUT = 1;
  private static final int LEFT = 0;
  private static final int RIGHT = 1;
  private static final StructType KEY = new StructType().add("k", DataTypes.StringType);
  private static final StructType ROW = new StructType().add("id", DataTypes.LongType).add("v", DataTypes.LongType);
  private static final StructType RESULT = KEY.add("id", DataTypes.LongType).add("v", DataTypes.LongType).add("other", DataTypes.LongType)
      .add("w", DataTypes.LongType);
  private static final StructType CHANGE = new StructType().add("before", RESULT).add("after", RESULT);
  private static final StructType EXIT = new StructType().add("time", DataTypes.TimestampType).add("key", KEY).add("inputs", new StructType())
      .add("row", ROW).add("sign", DataTypes.IntegerType);
  private static final UnsafeProjection EXITS = UnsafeProjection.create(EXIT);

  /** A row of a side: the key of the join, which may be null, and a value. */
  private record Item(String key, long value) {}

  /** An epoch that is being put together, and what came of it. */
  private static final class Driven {
    private final MemoryCells cells = new MemoryCells();
    private final Program program;
    private final Map<List<Object>, List<Object>> table = new HashMap<>();
    private Step step;
    private Epoch epoch;
    private int given;

    private Driven(boolean left, boolean right) {
      // Where rows are alone only both keys tell them apart.
      program = program(TableSpec.Kind.JOIN, KEY, List.of(side(ROW), side(ROW)),
          new TableSpec.Joining(left, right, new int[] {0, 1, 2, 3, 4}, new int[] {1, 3}));
      restart();
      epoch = epoch(cells);
    }

    private void restart() {
      step = Steps.of(program);
    }

    private void move(int side, int sign, long id, Item item) {
      epoch.add(side, 0, 0, given++, 7, exit(side, sign, id, item));
    }

    /** Ends the epoch, and applies its changes, each of which must fit what is there. */
    private List<List<Object>> end() {
      List<List<Object>> changes = new ArrayList<>();
      Set<List<Object>> seen = new HashSet<>();
      epoch.run(step).forEachRemaining(output -> {
        UnsafeRow change = Events.row(output, CHANGE.size());
        List<Object> before = values(change, TableSpec.BEFORE);
        List<Object> after = values(change, TableSpec.AFTER);
        assertTrue(!Objects.equals(before, after), "a change that changes nothing");
        List<Object> of = before == null ? after : before;
        List<Object> primary = primary(of);
        assertTrue(seen.add(List.of(List.of(primary.toString()), of.get(0) == null ? "" : of.get(0))), "two changes of " + primary);
        changes.add(of);
        if (before != null) {
          assertTrue(table.remove(place(before), before), "taken back and never given: " + before);
        }
        if (after != null) {
          assertEquals(null, table.put(place(after), after));
        }
      });
      assertEquals(given, epoch.ledger().used);
      given = 0;
      epoch = epoch(cells);
      return changes;
    }

    private static List<Object> place(List<Object> row) {
      return List.of(String.valueOf(row.get(0)), String.valueOf(row.get(1)), String.valueOf(row.get(3)));
    }

    private static List<Object> primary(List<Object> row) {
      return List.of(String.valueOf(row.get(1)), String.valueOf(row.get(3)));
    }
  }

  @ParameterizedTest
  @CsvSource({"false, false, 1", "true, false, 2", "true, true, 3", "false, false, 4", "true, true, 5"})
  void afterEveryEpochTheChangesMakeTheJoin(boolean left, boolean right, long seed) {
    Random random = new Random(seed);
    Driven driven = new Driven(left, right);
    List<Map<Long, Item>> sides = List.of(new LinkedHashMap<>(), new LinkedHashMap<>());
    for (int epoch = 0; epoch < 200; epoch++) {
      if (random.nextInt(5) == 0) {
        driven.restart();
      }
      List<Map<Long, Item>> before = List.of(new HashMap<>(sides.get(LEFT)), new HashMap<>(sides.get(RIGHT)));
      for (int change = random.nextInt(6); change > 0; change--) {
        Map<Long, Item> side = sides.get(random.nextInt(2));
        long id = random.nextInt(8);
        if (random.nextInt(3) == 0) {
          side.remove(id);
        } else {
          int key = random.nextInt(4);
          side.put(id, new Item(key == 3 ? null : "k" + key, random.nextInt(2)));
        }
      }
      for (int side = LEFT; side <= RIGHT; side++) {
        for (long id = 0; id < 8; id++) {
          Item was = before.get(side).get(id);
          Item is = sides.get(side).get(id);
          if (!Objects.equals(was, is)) {
            move(driven, side, -1, id, was);
            move(driven, side, 1, id, is);
          }
        }
      }
      driven.end();
      assertEquals(joined(sides, left, right), new HashSet<>(driven.table.values()), "epoch " + epoch);
    }
    for (int side = LEFT; side <= RIGHT; side++) {
      for (Map.Entry<Long, Item> row : sides.get(side).entrySet()) {
        driven.move(side, -1, row.getKey(), row.getValue());
      }
    }
    driven.end();
    assertTrue(driven.table.isEmpty());
    assertTrue(driven.cells.isEmpty(), "two empty tables leave no state: " + driven.cells);
  }

  private static void move(Driven driven, int side, int sign, long id, Item item) {
    if (item != null) {
      driven.move(side, sign, id, item);
    }
  }

  private static Set<List<Object>> joined(List<Map<Long, Item>> sides, boolean left, boolean right) {
    Set<List<Object>> rows = new HashSet<>();
    Set<Long> met = new HashSet<>();
    sides.get(LEFT).forEach((id, one) -> {
      boolean alone = true;
      for (Map.Entry<Long, Item> other : sides.get(RIGHT).entrySet()) {
        if (one.key != null && one.key.equals(other.getValue().key)) {
          rows.add(row(one.key, id, one.value, other.getKey(), other.getValue().value));
          met.add(other.getKey());
          alone = false;
        }
      }
      if (alone && left) {
        rows.add(row(one.key, id, one.value, null, null));
      }
    });
    sides.get(RIGHT).forEach((id, other) -> {
      if (right && !met.contains(id)) {
        rows.add(row(other.key, null, null, id, other.value));
      }
    });
    return rows;
  }

  @Test
  void whatIsTakenBackInTheEpochInWhichItCameWasNeverThere() {
    Driven driven = new Driven(true, true);
    driven.move(LEFT, 1, 1, new Item("a", 1));
    driven.move(LEFT, -1, 1, new Item("a", 1));
    assertEquals(List.of(), driven.end());
    assertTrue(driven.cells.isEmpty());
  }

  @Test
  void anUpdateIsOneChange() {
    Driven driven = new Driven(false, false);
    driven.move(LEFT, 1, 1, new Item("a", 1));
    driven.move(RIGHT, 1, 9, new Item("a", 5));
    assertEquals(1, driven.end().size());
    driven.move(LEFT, -1, 1, new Item("a", 1));
    driven.move(LEFT, 1, 1, new Item("a", 2));
    driven.move(RIGHT, -1, 9, new Item("a", 5));
    driven.move(RIGHT, 1, 9, new Item("a", 6));
    assertEquals(1, driven.end().size());
    assertEquals(Set.of(row("a", 1L, 2L, 9L, 6L)), new HashSet<>(driven.table.values()));
  }

  @Test
  void rowsWithoutAKeyAreNotHeld() {
    Driven driven = new Driven(true, true);
    driven.move(LEFT, 1, 1, new Item(null, 1));
    driven.move(RIGHT, 1, 1, new Item(null, 1));
    assertEquals(2, driven.end().size());
    assertTrue(driven.cells.isEmpty());
    driven.move(LEFT, -1, 1, new Item(null, 1));
    assertEquals(1, driven.end().size());
  }

  @Test
  void whatNeverCameCannotBeTakenBack() {
    Driven driven = new Driven(false, false);
    driven.move(LEFT, -1, 1, new Item("a", 1));
    assertTrue(assertThrows(IllegalStateException.class, driven::end).getMessage().contains("never came"));
  }

  @Test
  void twoHalvesOfAMoveAreOneChange() {
    Program program = program(TableSpec.Kind.NETTED, new StructType().add("id", DataTypes.LongType), List.of(side(CHANGE)), null);
    MemoryCells cells = new MemoryCells();
    Epoch epoch = epoch(cells);
    epoch.add(0, 0, 0, 0, 3, half(1, null, row("b", 1L, 1L, 9L, 5L)));
    epoch.add(0, 0, 0, 1, 4, half(1, row("a", 1L, 1L, 8L, 5L), null));
    epoch.add(0, 0, 0, 2, 5, half(2, row("a", 2L, 1L, 8L, 5L), null));
    epoch.add(0, 0, 0, 3, 5, half(3, row("a", 3L, 1L, null, null), null));
    epoch.add(0, 0, 0, 4, 5, half(3, null, row("a", 3L, 1L, null, null)));
    List<String> given = new ArrayList<>();
    epoch.run(Steps.of(program)).forEachRemaining(output -> {
      UnsafeRow change = Events.row(output, CHANGE.size());
      given.add(output.time() + ": " + values(change, 0) + " -> " + values(change, 1));
    });
    assertEquals(List.of("4: [a, 1, 1, 8, 5] -> [b, 1, 1, 9, 5]", "5: [a, 2, 1, 8, 5] -> null"), given);
    assertTrue(cells.isEmpty());
    assertEquals(5, epoch.ledger().used);
  }

  @Test
  void twoRowsOfOnePrimaryKeyAreAMistakeThatIsSaid() {
    Program program = program(TableSpec.Kind.NETTED, new StructType().add("id", DataTypes.LongType), List.of(side(CHANGE)), null);
    Epoch epoch = epoch(new MemoryCells());
    epoch.add(0, 0, 0, 0, 3, half(1, null, row("a", 1L, 1L, 9L, 5L)));
    epoch.add(0, 0, 0, 1, 3, half(1, null, row("b", 1L, 1L, 9L, 5L)));
    Step step = Steps.of(program);
    assertTrue(assertThrows(IllegalStateException.class, () -> epoch.run(step)).getMessage().contains("one primary key"));
  }

  private static Program program(TableSpec.Kind kind, StructType key, List<Side> sides, TableSpec.Joining joining) {
    return new Program(3, "bought", new int[] {0}, null, null, 0, null, Program.FOREVER, 0, null, null, true, key, new StructType(), sides, List.of(),
        OUT, null, null, CHANGE, new TableSpec(kind, false, null, joining));
  }

  private static Side side(StructType row) {
    return new Side(row, null, null, null);
  }

  private static Epoch epoch(MemoryCells cells) {
    return new Epoch(0, cells, Context.NO_WATERMARK, Context.NO_WATERMARK);
  }

  private static byte[] exit(int side, int sign, long id, Item item) {
    Object key = item.key == null ? null : UTF8String.fromString(item.key);
    return EXITS.apply(new GenericInternalRow(new Object[] {7L + side, new GenericInternalRow(new Object[] {key}),
        new GenericInternalRow(new Object[0]), new GenericInternalRow(new Object[] {id, item.value}), sign})).copy().getBytes();
  }

  private static byte[] half(long id, List<Object> before, List<Object> after) {
    StructType exit = new StructType().add("time", DataTypes.TimestampType).add("key", new StructType().add("id", DataTypes.LongType))
        .add("inputs", new StructType()).add("row", CHANGE);
    return UnsafeProjection.create(exit).apply(new GenericInternalRow(new Object[] {after == null && id == 1 ? 4L : id == 1 ? 3L : 5L,
        new GenericInternalRow(new Object[] {id}), new GenericInternalRow(new Object[0]),
        new GenericInternalRow(new Object[] {struct(before), struct(after)})})).copy().getBytes();
  }

  private static GenericInternalRow struct(List<Object> row) {
    if (row == null) {
      return null;
    }
    Object[] values = row.toArray();
    values[0] = values[0] == null ? null : UTF8String.fromString((String) values[0]);
    return new GenericInternalRow(values);
  }

  private static List<Object> row(Object... values) {
    List<Object> row = new ArrayList<>();
    for (Object value : values) {
      row.add(value);
    }
    return row;
  }

  private static List<Object> values(UnsafeRow change, int side) {
    if (change.isNullAt(side)) {
      return null;
    }
    UnsafeRow row = change.getStruct(side, RESULT.size());
    List<Object> values = new ArrayList<>();
    values.add(row.isNullAt(0) ? null : row.getUTF8String(0).toString());
    for (int i = 1; i < RESULT.size(); i++) {
      values.add(row.isNullAt(i) ? null : row.getLong(i));
    }
    return values;
  }
}
