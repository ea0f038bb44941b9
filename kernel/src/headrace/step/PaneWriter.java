package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Slots;
import headrace.aggregate.Unfit;
import headrace.state.ByteReader;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Stored accumulators as rows of the result port, one per key; and what could not be given, as rows of the rejected port. */
final class PaneWriter {
  private static final UTF8String ON_TIME = UTF8String.fromString("on_time");

  private final Program program;
  private final Layout layout;
  private final Slots slots;
  private final UnsafeRow key;
  private final DataType[] keyTypes;
  private final UnsafeProjection projection;
  private final UnsafeProjection rejected;

  PaneWriter(Program program, Layout layout) {
    this.program = program;
    this.layout = layout;
    slots = layout.scratch();
    StructField[] fields = program.key().fields();
    key = new UnsafeRow(fields.length);
    keyTypes = new DataType[fields.length];
    for (int i = 0; i < fields.length; i++) {
      keyTypes[i] = fields[i].dataType();
    }
    projection = UnsafeProjection.create(program.output());
    rejected = UnsafeProjection.create(Program.REJECTED);
  }

  /**
   * The panes of a window, written one at a time as they are asked for.
   *
   * <p>A pane has no position in a source. It is given one that is its own and the same on every replay: the program (negative, which
   * no source is), the group, and its number in the window.
   */
  Iterator<Output> panes(Iterator<byte[]> pages, long start, long end, int group) {
    return new Iterator<>() {
      private final ArrayDeque<Output> extra = new ArrayDeque<>();
      private ByteReader in;
      private long index;

      @Override
      public boolean hasNext() {
        while (extra.isEmpty() && (in == null || !in.hasRemaining())) {
          if (!pages.hasNext()) {
            return false;
          }
          in = Partials.open(pages.next());
        }
        return true;
      }

      @Override
      public Output next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return extra.isEmpty() ? pane(in, start, end, group, index++, extra) : extra.poll();
      }
    };
  }

  private Output pane(ByteReader in, long start, long end, int group, long index, ArrayDeque<Output> extra) {
    int length = in.readLength();
    key.pointTo(in.array(), in.address(), length);
    in.skip(length);
    in.readLength();
    layout.clear(slots);
    layout.read(slots, in);
    Object[] values = new Object[keyTypes.length + 1 + layout.size() + 2];
    int at = 0;
    for (; at < keyTypes.length; at++) {
      values[at] = key.isNullAt(at) ? null : key.get(at, keyTypes[at]);
    }
    values[at++] = new GenericInternalRow(new Object[] {start, end});
    for (int i = 0; i < layout.size(); i++) {
      Object result = layout.aggregate(i).result(slots);
      if (result instanceof Unfit unfit) {
        result = null;
        if (program.rejectedPort() != null) {
          extra.add(unfit(i, unfit, start, end, group, index));
        }
      }
      values[at++] = result;
    }
    values[at++] = ON_TIME;
    values[at] = 0;
    byte[] payload = projection.apply(new GenericInternalRow(values)).copy().getBytes();
    return new Output(program.port(), end, -program.id(), group, index, payload);
  }

  private Output unfit(int aggregate, Unfit unfit, long start, long end, int group, long index) {
    StructType type = program.key();
    StringBuilder reason = new StringBuilder(program.aggregates().get(aggregate).reason(unfit)).append(" for key {");
    for (int i = 0; i < keyTypes.length; i++) {
      reason.append(i == 0 ? "" : ", ").append(type.fields()[i].name()).append('=').append(key.isNullAt(i) ? null : key.get(i, keyTypes[i]));
    }
    reason.append("} window ").append(Times.window(start, end));
    Object[] values = new Object[Program.REJECTED.size()];
    values[6] = UTF8String.fromString(program.name());
    values[7] = UTF8String.fromString(reason.toString());
    return new Output(program.rejectedPort(), end, -program.id(), group, index, rejected.apply(new GenericInternalRow(values)).copy().getBytes());
  }
}
