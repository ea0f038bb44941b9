package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Lets the first row of each id pass, and no other within so long of it in event time.
 *
 * <p>The first of one epoch is the first by event time, then position. An id is remembered by the times of the rows that passed, until no
 * row near them can come any more; a row older than that is late, since nobody knows whether it is a second one. Body: number of times,
 * and the times.
 */
public final class Dedup extends KeyedStep<Output> {
  private static final Comparator<Output> BY_TIME = Comparator.comparingLong(Output::time).thenComparingInt(Output::source)
      .thenComparingInt(Output::partition).thenComparingLong(Output::offset);

  public Dedup(Program program) {
    super(program, new Layout(List.of()));
  }

  @Override
  void take(UnsafeRow exit, Position position) {
    if (judged >= after(position.time)) {
      late(exit, position, position.time);
      return;
    }
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size());
    byte[] row = exit.getStruct(Program.EXIT_ROW, program.row().size()).copy().getBytes();
    // Most rows are the first of their id: they leave as what they were kept as.
    bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(),
        new Output(program.port(), position.time, position.source, position.partition, position.offset, row));
  }

  @Override
  long join(ByteReader history, List<Output> brought, ByteWriter out) {
    int known = history == null ? 0 : history.readLength();
    long[] times = new long[known + brought.size()];
    for (int i = 0; i < known; i++) {
      times[i] = history.readSigned();
    }
    if (brought.size() > 1) {
      brought.sort(BY_TIME);
    }
    for (Output row : brought) {
      if (near(times, known, row.time())) {
        context.duplicate(1);
        if (program.duplicatePort() != null) {
          context.emit(new Output(program.duplicatePort(), row.time(), row.source(), row.partition(), row.offset(), row.payload()));
        }
      } else {
        context.used(1);
        times[known++] = row.time();
        context.emit(row);
      }
    }
    return write(times, known, out);
  }

  private boolean near(long[] times, int known, long time) {
    for (int i = 0; i < known; i++) {
      if (time <= after(times[i]) && times[i] <= after(time)) {
        return true;
      }
    }
    return false;
  }

  private long write(long[] times, int known, ByteWriter out) {
    if (known == 0) {
      return NEVER;
    }
    long due = NEVER;
    out.writeUnsigned(known);
    for (int i = 0; i < known; i++) {
      out.writeSigned(times[i]);
      due = Math.min(due, after(after(times[i])));
    }
    return due;
  }

  @Override
  long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given) {
    int known = history.readLength();
    long[] times = new long[known];
    int left = 0;
    for (int i = 0; i < known; i++) {
      long time = history.readSigned();
      if (header.watermark < after(after(time))) {
        times[left++] = time;
      }
    }
    return write(times, left, out);
  }

  private long after(long time) {
    return time > Long.MAX_VALUE - program.within() ? Long.MAX_VALUE : time + program.within();
  }
}
