package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.state.MemoryCells;
import headrace.trigger.Accumulation;
import headrace.trigger.Trigger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dedup against a list of all rows that ever passed, over random rows, cuts, watermarks and restarts. */
class DedupTest {
  private static final int PASSED = 1;
  private static final int LATE = 2;
  private static final int DUPLICATE = 3;
  private static final StructType KEY = new StructType().add("id", DataTypes.StringType);
  private static final StructType ROW = KEY.add("number", DataTypes.LongType);
  private static final StructType NONE = new StructType();
  private static final UnsafeProjection EXITS = UnsafeProjection.create(
      new StructType().add("time", DataTypes.TimestampType).add("key", KEY).add("inputs", NONE).add("row", ROW));

  private record Event(String id, long time, long number) {}

  private final MemoryCells cells = new MemoryCells();
  private final Map<String, List<Long>> passed = new HashMap<>();
  private long judged = Context.NO_WATERMARK;

  private static Program program(long within, long slice) {
    return new Program(1, "ids", new int[] {0}, null, Trigger.AT_WATERMARK, 0, Accumulation.ACCUMULATING, within, slice, null, null, false,
        KEY, NONE, List.of(new Side(ROW, LATE, ROW.add("late_by_seconds", DataTypes.DoubleType), null)), List.of(), PASSED, DUPLICATE, null,
        ROW, null);
  }

  private static byte[] exit(Event event) {
    UTF8String id = UTF8String.fromString(event.id);
    return EXITS.apply(new GenericInternalRow(new Object[] {event.time, new GenericInternalRow(new Object[] {id}),
        new GenericInternalRow(0), new GenericInternalRow(new Object[] {id, event.number})})).copy().getBytes();
  }

  /** One epoch on a machine that remembers nothing but the cells: the number of each row, and where it left. */
  private Map<Long, Integer> run(Program program, List<Event> events, long tick) {
    Epoch epoch = new Epoch(5, cells, judged, Context.NO_WATERMARK);
    events.forEach(event -> epoch.add(0, 0, (int) (event.number % 3), event.number, event.time, exit(event)));
    epoch.tick(tick, 0);
    Map<Long, Integer> left = new HashMap<>();
    epoch.run(new Dedup(program)).forEachRemaining(output -> {
      UnsafeRow row = new UnsafeRow(output.port() == LATE ? 3 : 2);
      row.pointTo(output.payload(), output.payload().length);
      assertEquals(null, left.put(row.getLong(1), output.port()), "a row left twice");
    });
    assertEquals(events.size(), epoch.ledger().used + epoch.ledger().late + epoch.ledger().duplicate);
    return left;
  }

  private Map<Long, Integer> expected(long within, List<Event> events) {
    Map<Long, Integer> left = new HashMap<>();
    List<Event> inOrder = new ArrayList<>(events);
    inOrder.sort(Comparator.comparingLong(Event::time).thenComparingLong(event -> event.number % 3).thenComparingLong(Event::number));
    for (Event event : inOrder) {
      List<Long> before = passed.computeIfAbsent(event.id, absent -> new ArrayList<>());
      if (judged != Context.NO_WATERMARK && judged >= event.time + within) {
        left.put(event.number, LATE);
      } else if (before.stream().anyMatch(time -> Math.abs(time - event.time) <= within)) {
        left.put(event.number, DUPLICATE);
      } else {
        left.put(event.number, PASSED);
        before.add(event.time);
      }
    }
    return left;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29})
  void passesWhatAListOfAllThatPassedWouldLetPass(int seed) {
    Random random = new Random(seed);
    long within = List.of(0L, 1_000L, 20_000L, 1_000_000L).get(random.nextInt(4));
    int ids = List.of(3, 40, 4_000).get(random.nextInt(3));
    long now = random.nextBoolean() ? 0 : -random.nextInt(1_000_000);
    long number = 0;
    boolean[] met = new boolean[4];
    for (int each = 0; each < 25; each++) {
      if (random.nextInt(8) == 0) {
        // A restart with a shorter time: what is held is of slices of the old length.
        within /= 2;
      }
      Program program = program(within, Math.max(1, (2 * within + random.nextInt(5_000)) / 8));
      List<Event> events = new ArrayList<>();
      long spread = 1 + within * random.nextInt(4) + random.nextInt(5_000);
      for (int left = random.nextInt(4) == 0 ? 0 : random.nextInt(300); left > 0; left--) {
        events.add(new Event("id" + random.nextInt(ids), now + random.nextLong(-spread, spread), number++));
      }
      Map<Long, Integer> expected = expected(within, events);
      long tick = Math.max(judged, now - random.nextInt(3) * within - random.nextInt(2_000));
      assertEquals(expected, run(program, events, tick), "epoch " + each + " of seed " + seed);
      expected.values().forEach(port -> met[port] = true);
      judged = tick;
      now += random.nextInt(4) == 0 ? spread : random.nextInt(2_000);
    }
    assertTrue(met[PASSED] && number > 500, () -> "hardly anything came with seed " + seed);
    run(program(within, 1), List.of(), Context.END);
    assertTrue(cells.isEmpty(), "something is kept when time is over");
  }
}
