package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Slots;
import headrace.aggregate.Unfit;
import headrace.trigger.Accumulation;
import headrace.window.GlobalWindow;
import headrace.window.StatedWindows;
import java.util.Collection;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Accumulators as rows of the result port, a pane a row; and what could not be given, as rows of the rejected port.
 *
 * <p>A pane has no position in a source. It is given one that is its own and the same on every replay: the program (negative, which no
 * source is), the group, and a number of the epoch.
 */
class PaneWriter {
  /** pane, pane_index and pane_last. */
  static final int ABOUT = 3;

  /** What a pane says beside its values; {@code time} is its place in time. */
  record About(long start, long end, long time, Pane pane, long index, boolean last) {}

  final Program program;
  final Layout layout;
  final boolean changes;
  private final UnsafeRow key;
  private final DataType[] keyTypes;
  private final int shownKeys;
  private final int aggregates;
  private UnsafeProjection projection;
  private UnsafeProjection rejected;

  static PaneWriter of(Program program, Layout layout) {
    return program.shown() == null ? new PaneWriter(program, layout) : new RankedPaneWriter(program, layout);
  }

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
  final UnsafeRow key() {
    return key;
  }

  /**
   * Gives a pane of the key. Where panes are taken back, what was shown before goes first.
   *
   * @param before what earlier calls returned for it; empty where nothing is to be taken back
   * @return what is shown of the key and window from now on, to be remembered where panes are taken back
   */
  byte[] give(Slots slots, About about, List<byte[]> before, Context context, Collection<Output> out) {
    for (byte[] shown : before) {
      if (shown.length > 0) {
        out.add(output(takenBack(shown), about.time, context));
      }
    }
    Object[] made = new Object[aggregates];
    for (int i = 0; i < aggregates; i++) {
      Object result = layout.aggregate(i).result(slots);
      made[i] = result instanceof Unfit ? null : result;
    }
    byte[] row = row(about, made);
    out.add(output(row, about.time, context));
    unfit(slots, about.start, about.end, context, out);
    return row;
  }

  /** A row of the key: what was made stands between the window and what the pane says of itself. */
  final byte[] row(About about, Object[] made) {
    Object[] values = new Object[shownKeys + 1 + made.length + ABOUT + (changes ? 1 : 0)];
    int at = 0;
    for (; at < shownKeys; at++) {
      values[at] = key.isNullAt(at) ? null : key.get(at, keyTypes[at]);
    }
    values[at++] = window(about.start, about.end);
    for (Object each : made) {
      values[at++] = each;
    }
    values[at++] = about.pane.text();
    values[at++] = (int) Math.min(about.index, Integer.MAX_VALUE);
    values[at++] = about.last;
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

  /** A row of the result, its place in time and the epoch given. */
  final Output output(byte[] payload, long time, Context context) {
    return new Output(program.port(), time, -program.id(), context.group(), context.number(), payload);
  }

  /** A row once more, with the sign that takes it back. */
  final byte[] takenBack(byte[] payload) {
    byte[] again = payload.clone();
    UnsafeRow row = new UnsafeRow(program.output().size());
    row.pointTo(again, again.length);
    row.setInt(program.output().size() - 1, -1);
    row.setBoolean(program.output().size() - 2, false);
    return again;
  }

  /** Says aloud what could not be given in the key's pane. */
  private void unfit(Slots slots, long start, long end, Context context, Collection<Output> out) {
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
