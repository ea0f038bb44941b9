package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.expression.Compiled;
import headrace.expression.Failure;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A table of a state for each key, made anew of itself and each row, in the order of event time and position within an epoch.
 *
 * <p>A row on which the step fails is rejected, and the state stays what it was. Body: 1 and the state, or 0 where the first rows failed.
 */
final class Fold extends KeyedStep<Fold.Item> {
  /** A row, when and where it was, and its key. */
  record Item(long time, int source, int partition, long offset, UnsafeRow key, UnsafeRow row) {}

  private static final Comparator<Item> BY_TIME = Comparator.comparingLong(Item::time).thenComparingInt(Item::source)
      .thenComparingInt(Item::partition).thenComparingLong(Item::offset);

  private final ChangeWriter changes;
  private final StructType rowType;
  private final int keys;
  private UnsafeProjection step;
  private final UnsafeProjection shown;
  private final UnsafeProjection result;
  private final UnsafeRow begin;
  private UnsafeProjection rejected;

  Fold(Program program) {
    super(program, new Layout(List.of()));
    changes = new ChangeWriter(program.output());
    rowType = ChangeWriter.row(program.output());
    keys = program.key().size();
    TableSpec.Folding folding = program.table().folding();
    step = Compiled.projection(folding.step());
    shown = Compiled.projection(folding.shown());
    begin = Compiled.projection(folding.initial()).apply(new GenericInternalRow(0)).copy();
    result = UnsafeProjection.create(rowType);
  }

  @Override
  void take(UnsafeRow exit, Position position) {
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, keys).copy();
    bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), new Item(position.time, position.source, position.partition,
        position.offset, key, exit.getStruct(Program.EXIT_ROW, program.row().size()).copy()));
  }

  @Override
  long join(ByteReader history, List<Item> brought, ByteWriter out) {
    UnsafeRow known = history == null ? null : read(history);
    UnsafeRow state = known;
    brought.sort(BY_TIME);
    Item last = null;
    for (Item item : brought) {
      try {
        state = step.apply(new GenericInternalRow(new Object[] {state == null ? begin : state, item.row})).copy();
        last = item;
        context.used(1);
      } catch (RuntimeException failed) {
        reject(item, Failure.reason(failed));
        // What an expression left half done must not be in the next row's value.
        step = Compiled.projection(program.table().folding().step());
      }
    }
    if (last != null) {
      byte[] change = changes.change(known == null ? null : row(last.key, known), row(last.key, state));
      if (change != null) {
        context.emit(new Output(program.port(), last.time, last.source, last.partition, last.offset, change));
      }
    }
    return write(state, out);
  }

  private byte[] row(UnsafeRow key, UnsafeRow state) {
    StructField[] fields = rowType.fields();
    Object[] values = new Object[fields.length];
    for (int i = 0; i < fields.length; i++) {
      UnsafeRow from = i < keys ? key : state;
      int at = i < keys ? i : i - keys;
      values[i] = from.isNullAt(at) ? null : from.get(at, fields[i].dataType());
    }
    return result.apply(new GenericInternalRow(values)).copy().getBytes();
  }

  private void reject(Item item, String reason) {
    if (program.table().folding().fails()) {
      throw new IllegalStateException("step " + program.name() + " of topic " + program.table().folding().topic() + " failed: " + reason);
    }
    context.rejected(1);
    if (program.rejectedPort() == null) {
      return;
    }
    Object[] values = new Object[Program.REJECTED.size()];
    values[0] = UTF8String.fromString(program.table().folding().topic());
    UnsafeRow text = shown.apply(new GenericInternalRow(new Object[] {begin, item.row}));
    values[5] = text.isNullAt(0) ? null : text.getBinary(0);
    values[6] = UTF8String.fromString(program.name());
    values[7] = UTF8String.fromString(reason);
    if (rejected == null) {
      rejected = UnsafeProjection.create(Program.REJECTED);
    }
    byte[] payload = rejected.apply(new GenericInternalRow(values)).copy().getBytes();
    context.emit(new Output(program.rejectedPort(), item.time, item.source, item.partition, item.offset, payload));
  }

  private UnsafeRow read(ByteReader in) {
    if (in.readByte() == 0) {
      return null;
    }
    byte[] bytes = in.readBytes();
    UnsafeRow state = new UnsafeRow(rowType.size() - keys);
    state.pointTo(bytes, bytes.length);
    return state;
  }

  private long write(UnsafeRow state, ByteWriter out) {
    out.writeByte(state == null ? 0 : 1);
    if (state != null) {
      out.writeBytes(state.getBytes());
    }
    // Without a state the key is forgotten at once.
    return state == null ? Long.MIN_VALUE : NEVER;
  }

  @Override
  long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given) {
    UnsafeRow state = read(history);
    return state == null ? NEVER : write(state, out);
  }

  @Override
  public long size(Partials batch, int entry) {
    return 8L + rowType.defaultSize();
  }
}
