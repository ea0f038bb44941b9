package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.operator.LayerSpec;
import headrace.state.Cells;
import headrace.state.MemoryCells;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/** What a join with a table costs and keeps; what it gives is in the transcripts. */
class LookupJoinTest {
  private static final long SECOND = 1_000_000;
  private static final int LEFT = 0;
  private static final int RIGHT = 1;
  private static final int OUT = 1;
  private static final StructType KEY = new StructType().add("k", DataTypes.StringType);
  private static final StructType ROW = new StructType().add("v", DataTypes.LongType);
  private static final UnsafeProjection EXITS = UnsafeProjection.create(new StructType().add("time", DataTypes.TimestampType)
      .add("key", KEY).add("inputs", new StructType()).add("row", ROW));

  /** Cells that tell how many bytes were written. */
  private static final class Counted implements Cells {
    final MemoryCells cells = new MemoryCells();
    long written;

    @Override
    public byte[] header() {
      return cells.header();
    }

    @Override
    public void putHeader(byte[] value) {
      cells.putHeader(value);
    }

    @Override
    public void removeHeader() {
      cells.removeHeader();
    }

    @Override
    public byte[] get(byte[] key) {
      return cells.get(key);
    }

    @Override
    public void put(byte[] key, byte[] value) {
      written += value.length;
      cells.put(key, value);
    }

    @Override
    public void remove(byte[] key) {
      cells.remove(key);
    }

    @Override
    public Iterator<Map.Entry<byte[], byte[]>> scan() {
      return cells.scan();
    }
  }

  private final Counted cells = new Counted();
  private Epoch epoch;
  private long offset;

  private static Program program(boolean current) {
    String columns = "[0, 1, 2]";
    String side = "{\"row\": " + ROW.json() + "}";
    StructType output = new StructType().add("k", DataTypes.StringType).add("v", DataTypes.LongType).add("then", DataTypes.LongType);
    return LayerSpec.parse("{\"programs\": [{\"id\": 1, \"name\": \"limits\", \"groups\": [0], \"port\": " + OUT + ", \"key\": " + KEY.json()
        + ", \"inputs\": " + new StructType().json() + ", \"aggregates\": [], \"sides\": [" + side + ", " + side + "], \"lookup\": {\"current\": "
        + current + ", \"left\": true, \"slice\": " + SECOND + "}, \"columns\": " + columns + ", \"output\": " + output.json() + "}]}").program(1);
  }

  private void begin(long watermark) {
    epoch = new Epoch(0, cells, watermark, Context.NO_WATERMARK);
    epoch.tick(watermark, 0);
  }

  private void add(int side, String key, long time, Long value) {
    Object columns = value == null ? null : new GenericInternalRow(new Object[] {value});
    byte[] exit = EXITS.apply(new GenericInternalRow(new Object[] {time, new GenericInternalRow(new Object[] {UTF8String.fromString(key)}),
        new GenericInternalRow(new Object[0]), columns})).copy().getBytes();
    epoch.add(side, side, 0, offset++, time, exit);
  }

  private List<Output> run(Step step) {
    cells.written = 0;
    List<Output> outputs = new ArrayList<>();
    epoch.run(step).forEachRemaining(outputs::add);
    return outputs;
  }

  @Test
  void nothingIsKeptWhereNothingIsHeld() {
    Step step = Steps.of(program(false));
    begin(0);
    add(RIGHT, "a", SECOND, 1L);
    add(RIGHT, "a", 2 * SECOND, null);
    add(LEFT, "a", 3 * SECOND, 2L);
    add(LEFT, "b", 3 * SECOND, 3L);
    assertEquals(List.of(), run(step));
    begin(4 * SECOND);
    assertEquals(2, run(step).size());
    assertTrue(cells.cells.isEmpty(), cells.cells.toString());
  }

  @Test
  void aDeletedRowOfNowLeavesNothing() {
    Step step = Steps.of(program(true));
    begin(0);
    add(RIGHT, "a", SECOND, 1L);
    add(LEFT, "b", SECOND, 1L);
    assertEquals(1, run(step).size());
    begin(0);
    add(RIGHT, "a", 2 * SECOND, null);
    run(step);
    assertTrue(cells.cells.isEmpty(), cells.cells.toString());
  }

  @Test
  void whatIsHeldIsNotWrittenAnewByEpochsThatBringNothingForIt() {
    Step step = Steps.of(program(false));
    begin(0);
    for (int key = 0; key < 2_000; key++) {
      for (int version = 0; version < 5; version++) {
        add(RIGHT, "key-" + key, version * SECOND, (long) version);
      }
      add(LEFT, "key-" + key, 500 * SECOND, 7L);
    }
    run(step);
    long all = cells.written;
    long later = 0;
    for (int number = 1; number <= 100; number++) {
      begin(number * SECOND);
      add(LEFT, "key-" + number, number * SECOND, 8L);
      assertEquals(number == 1 ? 0 : 1, run(step).size(), "epoch " + number);
      later += cells.written;
    }
    // What is superseded goes once, with all the rest of its minute.
    assertTrue(later < all, later + " bytes written in a hundred epochs, " + all + " in the first");
  }

  @Test
  void aHotKeyIsGoneThroughOnce() {
    Step step = Steps.of(program(false));
    int rows = 200_000;
    begin(0);
    for (int number = 0; number < rows; number++) {
      add(RIGHT, "hot", 2L * number, (long) number);
      add(LEFT, "hot", 2L * number + 1, (long) number);
    }
    run(step);
    begin(2L * rows);
    List<Output> outputs = run(step);
    assertEquals(rows, outputs.size());
    for (int number = 0; number < rows; number += 9_973) {
      assertEquals(number, Events.row(outputs.get(number), 3).getLong(2));
    }
  }
}
