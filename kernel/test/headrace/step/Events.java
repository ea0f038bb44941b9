package headrace.step;

import headrace.aggregate.AggregateSpec;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteWriter;
import headrace.trigger.Accumulation;
import headrace.trigger.Trigger;
import headrace.window.Window;
import headrace.window.Windows;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** A step over payments (card, amount), and its events and outputs as plain values. */
final class Events {
  static final int PANES = 1;
  static final int LATE = 2;
  static final int REJECTED = 3;
  private static final StructType KEY = new StructType().add("card", DataTypes.StringType);
  private static final StructType INPUTS = new StructType().add("amount", DataTypes.LongType);
  private static final StructType ROW = KEY.add("amount", DataTypes.LongType);
  private static final StructType EXIT = new StructType().add("time", DataTypes.TimestampType).add("key", KEY).add("inputs", INPUTS)
      .add("row", ROW);
  private static final StructType WINDOW = new StructType().add("start", DataTypes.TimestampType).add("end", DataTypes.TimestampType);
  private static final UnsafeProjection EXITS = UnsafeProjection.create(EXIT);

  record Event(String card, long amount, long time, int partition, long offset) {}

  record Pane(String card, long start, long end, Long total, long count, Long first, Long last) {}

  record Late(String card, long amount, double lateBy) {}

  private Events() {}

  static Program program(Window window, boolean narrow) {
    return program(window, Trigger.AT_WATERMARK, 0, Accumulation.ACCUMULATING, false, narrow);
  }

  static Program program(Window window, Trigger trigger, long lateness, Accumulation accumulation, boolean chained, boolean narrow) {
    List<AggregateSpec> aggregates = List.of(
        new AggregateSpec("total", "sum", 0, DataTypes.LongType, narrow ? new DecimalType(3, 0) : DataTypes.LongType, Map.of()),
        new AggregateSpec("n", "count", -1, null, DataTypes.LongType, Map.of()),
        new AggregateSpec("first", "first", 0, DataTypes.LongType, DataTypes.LongType, Map.of()),
        new AggregateSpec("last", "last", 0, DataTypes.LongType, DataTypes.LongType, Map.of()));
    StructType output = KEY.add("window", WINDOW).add("total", narrow ? new DecimalType(3, 0) : DataTypes.LongType)
        .add("n", DataTypes.LongType).add("first", DataTypes.LongType).add("last", DataTypes.LongType).add("pane", DataTypes.StringType)
        .add("pane_index", DataTypes.IntegerType).add("pane_last", DataTypes.BooleanType);
    if (accumulation == Accumulation.RETRACTING) {
      output = output.add("change", DataTypes.IntegerType);
    }
    return new Program(7, "velocity", new int[] {0}, window, trigger, lateness, accumulation, 0, 0, null, null, chained, KEY, INPUTS,
        List.of(new Side(ROW, LATE, ROW.add("late_by_seconds", DataTypes.DoubleType), null)), aggregates, PANES, null, REJECTED, output, null);
  }

  static byte[] exit(Event event) {
    UTF8String card = UTF8String.fromString(event.card);
    return EXITS.apply(new GenericInternalRow(new Object[] {event.time, new GenericInternalRow(new Object[] {card}),
        new GenericInternalRow(new Object[] {event.amount}), new GenericInternalRow(new Object[] {card, event.amount})})).copy().getBytes();
  }

  /** The events combined as a map task combines them: a run of entries per window. */
  static Map<Long, byte[]> combined(Program program, List<Event> events) {
    Map<Long, List<Event>> byWindow = new TreeMap<>();
    events.forEach(event -> byWindow.computeIfAbsent(((Windows) program.window()).slice(event.time), start -> new ArrayList<>()).add(event));
    Map<Long, byte[]> blobs = new TreeMap<>();
    UnsafeRow exit = new UnsafeRow(Program.EXIT_FIELDS);
    byWindow.forEach((start, inWindow) -> {
      Partials partials = new Partials(program.layout(), 4);
      for (Event event : inWindow) {
        byte[] bytes = exit(event);
        exit.pointTo(bytes, bytes.length);
        UnsafeRow key = exit.getStruct(Program.EXIT_KEY, 1);
        partials.add(start, Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes()), key,
            exit.getStruct(Program.EXIT_INPUTS, 1), new Position().at(event.time, 0, event.partition, event.offset));
      }
      ByteWriter out = new ByteWriter(16);
      out.writeByte(Partials.VERSION);
      for (int entry = 0; entry < partials.size(); entry++) {
        partials.write(entry, out);
      }
      blobs.put(start, out.toBytes());
    });
    return blobs;
  }

  static Pane pane(Output output) {
    UnsafeRow row = row(output, 9);
    UnsafeRow window = row.getStruct(1, 2);
    return new Pane(row.getUTF8String(0).toString(), window.getLong(0), window.getLong(1), row.isNullAt(2) ? null : row.getLong(2),
        row.getLong(3), row.isNullAt(4) ? null : row.getLong(4), row.isNullAt(5) ? null : row.getLong(5));
  }

  static Late late(Output output) {
    UnsafeRow row = row(output, 3);
    return new Late(row.getUTF8String(0).toString(), row.getLong(1), row.getDouble(2));
  }

  static UnsafeRow row(Output output, int fields) {
    UnsafeRow row = new UnsafeRow(fields);
    row.pointTo(output.payload(), output.payload().length);
    return row;
  }
}
