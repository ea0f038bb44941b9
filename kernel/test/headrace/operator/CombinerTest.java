package headrace.operator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.aggregate.AggregateSpec;
import headrace.aggregate.Position;
import headrace.clock.EpochWatermarks;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.step.Program;
import headrace.step.Side;
import headrace.trigger.Accumulation;
import headrace.trigger.Trigger;
import headrace.window.SessionWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class CombinerTest {
  private static final int EVENTS = 40_000;
  private static final StructType KEY = new StructType().add("card", DataTypes.LongType);
  private static final StructType NONE = new StructType();
  private static final UnsafeProjection EXITS = UnsafeProjection.create(
      new StructType().add("time", DataTypes.TimestampType).add("key", KEY).add("inputs", NONE).add("row", KEY));

  private static Program program() {
    List<AggregateSpec> count = List.of(new AggregateSpec("n", "count", -1, null, DataTypes.LongType, Map.of()));
    StructType window = new StructType().add("start", DataTypes.TimestampType).add("end", DataTypes.TimestampType);
    StructType output = KEY.add("window", window).add("n", DataTypes.LongType).add("pane", DataTypes.StringType)
        .add("pane_index", DataTypes.IntegerType).add("pane_last", DataTypes.BooleanType);
    return new Program(1, "visits", new int[] {4, 5, 6}, new SessionWindow(1_000), Trigger.AT_WATERMARK, 0, Accumulation.ACCUMULATING, 0, 0,
        null, null, false, KEY, NONE, List.of(new Side(KEY, null, null, null)), count, 1, null, null, output, null);
  }

  private final Combiner combiner = new Combiner(program(), EpochWatermarks.NONE);
  private final List<Row> sent = new ArrayList<>();

  private void take(long card, int number) {
    UnsafeRow exit = EXITS.apply(new GenericInternalRow(new Object[] {
        7L, new GenericInternalRow(new Object[] {card}), new GenericInternalRow(0), new GenericInternalRow(new Object[] {card})}));
    combiner.take(0, exit.getBaseObject(), exit.getBaseOffset(), exit.getSizeInBytes(), new Position().at(0, 0, 0, number), sent);
  }

  private long combined() {
    long entries = 0;
    for (Blobs blobs = combiner.blobs(new ByteWriter(64)); blobs.hasNext();) {
      ByteReader in = new ByteReader().over(blobs.next().<byte[]>getAs(Inputs.PAYLOAD));
      in.readByte();
      for (; in.hasRemaining(); entries++) {
        in.skip(in.readLength());
        in.skip(in.readLength());
      }
    }
    return entries;
  }

  private long inRuns() {
    combiner.flush(sent);
    long rows = 0;
    for (Row row : sent) {
      assertEquals(Inputs.ROWS, row.getInt(Inputs.KIND));
      ByteReader in = new ByteReader().over(row.<byte[]>getAs(Inputs.PAYLOAD));
      in.readFixed();
      for (; in.hasRemaining(); rows++) {
        in.readFixed();
        in.readFixed();
        in.skip((int) in.readFixed());
      }
    }
    return rows;
  }

  @Test
  void eventsThatMeetAreCombined() {
    for (int i = 0; i < EVENTS; i++) {
      take(i % 100, i);
    }
    assertEquals(100, combined());
    assertEquals(0, inRuns());
    assertEquals(EVENTS, combiner.ledger().in);
  }

  @Test
  void eventsThatHardlyMeetAreSentOneByOneOnceThatIsKnown() {
    for (int i = 0; i < EVENTS; i++) {
      take(i, i);
    }
    long combined = combined();
    assertTrue(combined > 0 && combined < EVENTS / 2, () -> combined + " were combined");
    assertEquals(EVENTS, combined + inRuns());
    assertEquals(EVENTS, combiner.ledger().in);
  }

  @Test
  void eventsOfAHotKeyAreCombinedAmongOthersThatHardlyMeet() {
    for (int i = 0; i < EVENTS; i++) {
      take(i % 5 == 0 ? -1 : i, i);
    }
    combined();
    long alone = inRuns();
    int behindTheSample = EVENTS - 16_384;
    // Without those of the hot key, of which there are a fifth.
    assertTrue(alone > behindTheSample / 2 && alone <= behindTheSample * 4 / 5, () -> alone + " went one by one");
    assertEquals(EVENTS, combiner.ledger().in);
  }
}
