package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.state.Cells;
import headrace.state.MemoryCells;
import headrace.step.Interval.How;
import headrace.trigger.Accumulation;
import headrace.trigger.Trigger;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a join costs: what it holds, what it reads and writes, and how it fares where one key has most of the rows. */
class IntervalJoinTest {
  private static final StructType KEY = new StructType().add("k", DataTypes.StringType);
  private static final StructType ROW = new StructType().add("v", DataTypes.LongType);
  private static final UnsafeProjection EXITS = UnsafeProjection.create(new StructType().add("time", DataTypes.TimestampType).add("key", KEY)
      .add("inputs", new StructType()).add("row", ROW));
  private static final int UPPER = 800;

  private final Counted cells = new Counted();
  private long offset;

  private static Program program(How how) {
    StructType late = KEY.add("v", DataTypes.LongType).add("late_by_seconds", DataTypes.DoubleType);
    List<Side> sides = List.of(new Side(ROW, 2, late, new int[] {0, 1}), new Side(ROW, 3, late, new int[] {0, 1}));
    StructType output = how.pairs ? KEY.add("v", DataTypes.LongType).add("v_right", DataTypes.LongType) : KEY.add("v", DataTypes.LongType);
    int[] columns = how.pairs ? new int[] {0, 1, 2} : new int[] {0, 1};
    return new Program(1, "join", new int[] {0}, null, Trigger.AT_WATERMARK, 0, Accumulation.ACCUMULATING, 0, 0,
        new Interval(0, UPPER, how, UPPER / 8, columns), null, false, KEY, new StructType(), sides, List.of(), 1, null, null, output, null);
  }

  private void add(Epoch epoch, int side, String key, long time) {
    byte[] bytes = EXITS.apply(new GenericInternalRow(new Object[] {time, new GenericInternalRow(new Object[] {UTF8String.fromString(key)}),
        new GenericInternalRow(new Object[0]), new GenericInternalRow(new Object[] {offset})})).copy().getBytes();
    epoch.add(side, side, 0, offset++, time, bytes);
  }

  private int run(Epoch epoch, Program program, long watermark) {
    epoch.tick(watermark, 0);
    int results = 0;
    for (Iterator<Output> all = epoch.run(Steps.of(program)); all.hasNext(); results++) {
      all.next();
    }
    return results;
  }

  @ParameterizedTest
  @EnumSource(How.class)
  void nothingIsHeldOnceTheLastRowsTimeHasPassed(How how) {
    Program program = program(how);
    for (int number = 0; number < 50; number++) {
      Epoch epoch = new Epoch(0, cells, number * 40L, Context.NO_WATERMARK);
      for (int row = 0; row < 100; row++) {
        add(epoch, row % 2, "key-" + row % 30, number * 40L + row);
      }
      run(epoch, program, number * 40L);
    }
    assertTrue(cells.size() > 0, "rows are held");
    // Left rows are held for the interval after the last one's time, which was 49 * 40 + 98.
    long last = 49 * 40 + 98 + UPPER + 1;
    run(new Epoch(0, cells, last - 1, Context.NO_WATERMARK), program, last - 1);
    assertTrue(cells.size() > 0, "the last left row is held");
    run(new Epoch(0, cells, last, Context.NO_WATERMARK), program, last);
    assertEquals(0, cells.size(), "cells when the last row's time has passed");
  }

  @ParameterizedTest
  @EnumSource(How.class)
  void aHotKeyIsNotComparedWithAllThatIsHeldOfIt(How how) {
    // If all were compared with all, that would be ten billion times.
    int rows = 100_000;
    Program program = program(how);
    MemoryCells own = new MemoryCells();
    long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    Epoch epoch = new Epoch(0, own, 0, Context.NO_WATERMARK);
    for (int row = 0; row < rows; row++) {
      add(epoch, Interval.RIGHT, "hot", row);
    }
    run(epoch, program, 0);
    Epoch next = new Epoch(0, own, 0, Context.NO_WATERMARK);
    for (int row = 0; row < rows; row++) {
      // None of them meets anything but the last one, which meets a hundred.
      add(next, Interval.LEFT, "hot", row == rows - 1 ? row - 99 : 10L * rows + row);
    }
    int met = run(next, program, 0);
    assertEquals(how.pairs ? 100 : how == How.SEMI ? 1 : 0, met);
    long seconds = Duration.ofNanos(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before).toSeconds();
    assertTrue(seconds < 10, "seconds of processor time: " + seconds);
  }

  @Test
  void aKeyOfATenthOfTheRowsHoldsNoEpochUp() {
    long even = Long.MAX_VALUE;
    long skewed = Long.MAX_VALUE;
    // The first rounds warm up; of the others the quickest counts.
    for (int round = 0; round < 6; round++) {
      even = Math.min(even, nanos(row -> "key-" + row % 2_000));
      skewed = Math.min(skewed, nanos(row -> row % 10 == 0 ? "hot" : "key-" + row % 2_000));
    }
    assertTrue(skewed < 5 * even, "nanoseconds: " + even + " with even keys, " + skewed + " with one of a tenth of the rows");
  }

  /** The processor's time for epochs of a join, the rows of which are so far apart that each meets a few of its key at most. */
  private long nanos(IntFunction<String> keys) {
    Program program = program(How.INNER);
    MemoryCells own = new MemoryCells();
    int rows = 20_000;
    long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    for (int number = 0; number < 2; number++) {
      Epoch epoch = new Epoch(0, own, 0, Context.NO_WATERMARK);
      for (int row = 0; row < rows; row++) {
        for (int side = 0; side < 2; side++) {
          add(epoch, side, keys.apply(row), 40L * (number * rows + row));
        }
      }
      run(epoch, program, 0);
    }
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
  }

  @Test
  void whetherThereIsAMatchIsFoundOnceForEachOfManyRows() {
    int rows = 50_000;
    Program semi = program(How.SEMI);
    MemoryCells own = new MemoryCells();
    long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    for (int half = 0; half < 2; half++) {
      Epoch epoch = new Epoch(0, own, 0, Context.NO_WATERMARK);
      for (int row = 0; row < rows; row++) {
        add(epoch, half == 0 ? Interval.RIGHT : Interval.LEFT, "hot", half == 0 ? 100 : 50);
      }
      assertEquals(half * rows, run(epoch, semi, 0), "each left row once, although all meet all");
    }
    long seconds = Duration.ofNanos(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before).toSeconds();
    assertTrue(seconds < 10, "seconds of processor time: " + seconds);
  }

  @Test
  void rowsThatNeedNotLeaveAreLetGoWithoutALook() {
    Program program = program(How.INNER);
    Epoch epoch = new Epoch(0, cells, 0, Context.NO_WATERMARK);
    for (int row = 0; row < 5_000; row++) {
      add(epoch, Interval.LEFT, "key-" + row, row % 1000);
    }
    run(epoch, program, 0);
    cells.gets = 0;
    cells.puts = 0;
    for (long watermark = UPPER; watermark < 2 * UPPER; watermark += 10) {
      run(new Epoch(0, cells, watermark, Context.NO_WATERMARK), program, watermark);
    }
    assertEquals(0, cells.gets, "cells read");
    assertEquals(0, cells.puts, "cells written");
  }

  @Test
  void rowsThatLeaveAreReadAndNotWrittenAgain() {
    Program program = program(How.LEFT);
    Epoch epoch = new Epoch(0, cells, 0, Context.NO_WATERMARK);
    for (int row = 0; row < 5_000; row++) {
      add(epoch, Interval.LEFT, "key-" + row, row % 1000);
    }
    run(epoch, program, 0);
    cells.puts = 0;
    List<Integer> left = new ArrayList<>();
    for (long watermark = UPPER + 1; watermark <= UPPER + 1000; watermark += 10) {
      left.add(run(new Epoch(0, cells, watermark, Context.NO_WATERMARK), program, watermark));
    }
    assertEquals(5, left.get(0), "those of the first moment");
    assertTrue(left.subList(1, left.size()).stream().allMatch(rows -> rows == 50), "five of each moment after it");
    assertEquals(0, cells.puts, "cells written");
  }

  /** Cells that are counted. */
  private static final class Counted implements Cells {
    private final MemoryCells inner = new MemoryCells();
    int gets;
    int puts;

    int size() {
      return inner.size();
    }

    @Override
    public byte[] header() {
      return inner.header();
    }

    @Override
    public void putHeader(byte[] value) {
      inner.putHeader(value);
    }

    @Override
    public void removeHeader() {
      inner.removeHeader();
    }

    @Override
    public byte[] get(byte[] key) {
      gets++;
      return inner.get(key);
    }

    @Override
    public void put(byte[] key, byte[] value) {
      puts++;
      inner.put(key, value);
    }

    @Override
    public void remove(byte[] key) {
      inner.remove(key);
    }

    @Override
    public Iterator<Map.Entry<byte[], byte[]>> scan() {
      return inner.scan();
    }
  }
}
