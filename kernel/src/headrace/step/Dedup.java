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
public final class Dedup extends KeyedStep<Dedup.Item> {
  /** A row, and when and where it was. */
  record Item(long time, int source, int partition, long offset, byte[] row) {}

  private static final Comparator<Item> BY_TIME = Comparator.comparingLong(Item::time).thenComparingInt(Item::source)
      .thenComparingInt(Item::partition).thenComparingLong(Item::offset);

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
    bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(),
        new Item(position.time, position.source, position.partition, position.offset, row));
  }

  @Override
  long join(ByteReader history, List<Item> brought, ByteWriter out) {
    int known = history == null ? 0 : history.readLength();
    long[] times = new long[known + brought.size()];
    for (int i = 0; i < known; i++) {
      times[i] = history.readSigned();
    }
    brought.sort(BY_TIME);
    for (Item item : brought) {
      if (near(times, known, item.time)) {
        context.duplicate(1);
        if (program.duplicatePort() != null) {
          context.emit(new Output(program.duplicatePort(), item.time, item.source, item.partition, item.offset, item.row));
        }
      } else {
        context.used(1);
        times[known++] = item.time;
        context.emit(new Output(program.port(), item.time, item.source, item.partition, item.offset, item.row));
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
