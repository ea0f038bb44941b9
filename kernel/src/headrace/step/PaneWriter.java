package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Slots;
import headrace.aggregate.Unfit;
import headrace.trigger.Accumulation;
import headrace.window.GlobalWindow;
import headrace.window.StatedWindows;
import java.util.Collection;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Accumulators as rows of the result port; and what could not be given, as rows of the rejected port.
 *
 * <p>A pane has no position in a source. It is given one that is its own and the same on every replay: the program (negative, which no
 * source is), the group, and a number of the epoch.
 */
final class PaneWriter {
  private static final int AFTER_AGGREGATES = 3;

  private final Program program;
  private final Layout layout;
  private final UnsafeRow key;
  private final DataType[] keyTypes;
  private final int shownKeys;
  private final int aggregates;
  private final boolean changes;
  private UnsafeProjection projection;
  private UnsafeProjection rejected;

  PaneWriter(Program program, Layout layout) {
    this.program = program;
    this.layout = layout;
    StructField[] fields = program.key().fields();
    key = new UnsafeRow(fields.length);
    keyTypes = new DataType[fields.length];
    for (int i = 0; i < fields.length; i++) {
      keyTypes[i] = fields[i].dataType();
    }
    shownKeys = fields.length - (program.window() instanceof StatedWindows ? StatedWindows.KEY_FIELDS : 0);
    aggregates = program.aggregates().size();
    changes = program.accumulation() == Accumulation.RETRACTING;
  }

  /** The key of the panes to come; to be pointed at its bytes. */
  UnsafeRow key() {
    return key;
  }

  /** The row of one pane of the key. */
  byte[] pane(Slots slots, long start, long end, Pane pane, long index, boolean last) {
    Object[] values = new Object[shownKeys + 1 + aggregates + AFTER_AGGREGATES + (changes ? 1 : 0)];
    int at = 0;
    for (; at < shownKeys; at++) {
      values[at] = key.isNullAt(at) ? null : key.get(at, keyTypes[at]);
    }
    values[at++] = window(start, end);
    for (int i = 0; i < aggregates; i++) {
      Object result = layout.aggregate(i).result(slots);
      values[at++] = result instanceof Unfit ? null : result;
    }
    values[at++] = pane.text();
    values[at++] = (int) Math.min(index, Integer.MAX_VALUE);
    values[at++] = last;
    if (changes) {
      values[at] = 1;
    }
    if (projection == null) {
      projection = UnsafeProjection.create(program.output());
    }
    return projection.apply(new GenericInternalRow(values)).copy().getBytes();
  }

  private GenericInternalRow window(long start, long end) {
    if (program.window() instanceof GlobalWindow) {
      return new GenericInternalRow(new Object[] {null, null});
    }
    long from = program.window() instanceof StatedWindows ? key.getLong(shownKeys) : start;
    return new GenericInternalRow(new Object[] {from, end});
  }

  /** The row of a pane, its place in time and the epoch given. */
  Output output(byte[] payload, long time, Context context) {
    return new Output(program.port(), time, -program.id(), context.group(), context.number(), payload);
  }

  /** A pane once more, with the sign that takes it back. */
  byte[] takenBack(byte[] payload) {
    byte[] again = payload.clone();
    UnsafeRow row = new UnsafeRow(program.output().size());
    row.pointTo(again, again.length);
    row.setInt(program.output().size() - 1, -1);
    row.setBoolean(program.output().size() - 2, false);
    return again;
  }

  /** Says aloud what could not be given in the key's pane. */
  void unfit(Slots slots, long start, long end, Context context, Collection<Output> out) {
    for (int i = 0; i < aggregates; i++) {
      if (program.rejectedPort() != null && layout.aggregate(i).result(slots) instanceof Unfit unfit) {
        out.add(unfit(i, unfit, start, end, context));
      }
    }
  }

  private Output unfit(int aggregate, Unfit unfit, long start, long end, Context context) {
    StringBuilder reason = new StringBuilder(program.aggregates().get(aggregate).reason(unfit)).append(" for key {");
    for (int i = 0; i < shownKeys; i++) {
      reason.append(i == 0 ? "" : ", ").append(program.key().fields()[i].name()).append('=')
          .append(key.isNullAt(i) ? null : key.get(i, keyTypes[i]));
    }
    long from = program.window() instanceof StatedWindows ? key.getLong(shownKeys) : start;
    reason.append("} window ").append(Times.window(from, end));
    Object[] values = new Object[Program.REJECTED.size()];
    values[6] = UTF8String.fromString(program.name());
    values[7] = UTF8String.fromString(reason.toString());
    if (rejected == null) {
      rejected = UnsafeProjection.create(Program.REJECTED);
    }
    byte[] payload = rejected.apply(new GenericInternalRow(values)).copy().getBytes();
    return new Output(program.rejectedPort(), end, -program.id(), context.group(), context.number(), payload);
  }
}
