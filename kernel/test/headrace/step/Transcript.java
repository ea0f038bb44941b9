package headrace.step;

import com.fasterxml.jackson.databind.JsonNode;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.operator.LayerSpec;
import headrace.state.ByteWriter;
import headrace.window.SessionWindow;
import headrace.window.StatedWindows;
import headrace.window.Windows;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** One transcript: a program, and epochs of rows that are fed to its machine as the map side would send them. */
final class Transcript {
  /** How rows are sent: each by itself; combined where they are not late, as {@code Combiner} does; or by turns. */
  enum Sent { IN_FULL, COMBINED, BY_TURNS }

  /** A row as it leaves the plan, and where it was read. */
  private record Exit(long time, long offset, byte[] bytes) {}

  private static final int OFFSET = 0;
  private static final int KEY = 1;
  private static final int TIME = 2;
  private static final int VALUE = 3;
  private static final int BEGINS = 4;
  private static final int ENDS = 5;

  final String title;
  final Program program;
  final List<JsonNode> epochs = new ArrayList<>();
  private final UnsafeProjection exits;

  Transcript(JsonNode told) {
    title = told.get("title").textValue();
    program = LayerSpec.parse(told.get("layer").toString()).program(1);
    told.get("epochs").forEach(epochs::add);
    exits = UnsafeProjection.create(new StructType().add("time", DataTypes.TimestampType).add("key", program.key())
        .add("inputs", program.inputs()).add("row", program.row()));
  }

  /** Adds the rows of an epoch, and its tick. */
  void feed(JsonNode told, Sent sent, Epoch epoch) {
    List<Exit> combined = new ArrayList<>();
    boolean turn = false;
    for (JsonNode row : told.get("rows")) {
      Exit exit = exit(row);
      turn = !turn;
      if ((sent == Sent.COMBINED || sent == Sent.BY_TURNS && turn) && !isLate(exit, epoch.judged())) {
        combined.add(exit);
      } else {
        epoch.add(0, 0, 0, exit.offset, exit.time, exit.bytes);
      }
    }
    combine(combined, epoch);
    if (told.get("ticks").booleanValue()) {
      epoch.tick(told.get("watermark").longValue(), told.get("clock").longValue());
    }
  }

  /** The processing time of the last tick when this epoch is over. */
  long ticked(JsonNode told, long before) {
    long clock = told.get("ticks").booleanValue() ? told.get("clock").longValue() : 0;
    return clock == 0 ? before : Math.max(before, clock);
  }

  /** The watermark in the last epoch. */
  long watermark() {
    return epochs.get(epochs.size() - 1).get("watermark").longValue();
  }

  private Exit exit(JsonNode told) {
    Object name = told.get(KEY).isNull() ? null : UTF8String.fromString(told.get(KEY).textValue());
    Object begins = number(told.get(BEGINS));
    Object ends = number(told.get(ENDS));
    long time = told.get(TIME).longValue();
    List<Object> key = new ArrayList<>();
    if (program.key().getFieldIndex("k").isDefined()) {
      key.add(name);
    }
    if (program.window() instanceof StatedWindows) {
      key.add(begins);
      key.add(ends);
    }
    Object value = number(told.get(VALUE));
    GenericInternalRow row = struct(name, time, value, begins, ends);
    // What is ranked shows the value and the time; its last column is only there to be ordered by.
    Object input = program.shown() == null ? value : struct(value, time, value == null ? null : (Object) Math.abs((Long) value));
    byte[] bytes = exits.apply(struct(time, struct(key.toArray()), struct(input), row)).copy().getBytes();
    return new Exit(time, told.get(OFFSET).longValue(), bytes);
  }

  private static GenericInternalRow struct(Object... values) {
    return new GenericInternalRow(values);
  }

  private static Long number(JsonNode told) {
    return told.isNull() ? null : (Long) told.longValue();
  }

  private boolean isLate(Exit exit, long judged) {
    if (program.window() == null) {
      return program.forgets(exit.time, judged);
    }
    long end = program.window() instanceof SessionWindow session ? session.end(exit.time)
        : ((Windows) program.window()).end(((Windows) program.window()).last(slice(exit)));
    return judged >= program.closed(end);
  }

  private long slice(Exit exit) {
    if (program.window() == null) {
      return 0;
    }
    return program.window() instanceof SessionWindow session ? session.slice(exit.time)
        : WindowStep.slice((Windows) program.window(), key(exit), exit.time);
  }

  private UnsafeRow key(Exit exit) {
    return row(exit).getStruct(Program.EXIT_KEY, program.key().size());
  }

  private static UnsafeRow row(Exit exit) {
    UnsafeRow row = new UnsafeRow(Program.EXIT_FIELDS);
    row.pointTo(exit.bytes, exit.bytes.length);
    return row;
  }

  /** One input per slice, placed where the first of its rows was. */
  private void combine(List<Exit> rows, Epoch epoch) {
    Map<Long, List<Exit>> bySlice = new TreeMap<>();
    rows.forEach(exit -> bySlice.computeIfAbsent(slice(exit), absent -> new ArrayList<>()).add(exit));
    bySlice.forEach((slice, inSlice) -> {
      Partials partials = new Partials(program.layout(), 4);
      for (Exit exit : inSlice) {
        UnsafeRow key = key(exit);
        partials.add(slice, Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes()), key,
            row(exit).getStruct(Program.EXIT_INPUTS, program.inputs().size()), new Position().at(exit.time, 0, 0, exit.offset));
      }
      ByteWriter out = new ByteWriter(64);
      out.writeByte(Partials.VERSION);
      for (int entry = 0; entry < partials.size(); entry++) {
        partials.write(entry, out);
      }
      epoch.add(Epoch.COMBINED, 0, 0, inSlice.get(0).offset, slice, out.toBytes());
    });
  }
}
