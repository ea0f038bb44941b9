package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The changes of a table as a stream: key, what happened, the row before and after, and a number that grows with each change of the key.
 *
 * <p>The number goes on when a key is deleted and comes back, so it is kept for every key that ever was. Body: the next number.
 */
final class Changes extends KeyedStep<Changes.Change> {
  /** A change, when and where it was, and the key that it is of. */
  record Change(long time, int source, int partition, long offset, UnsafeRow key, UnsafeRow pair) {}

  private static final UTF8String INSERT = UTF8String.fromString("insert");
  private static final UTF8String UPDATE = UTF8String.fromString("update");
  private static final UTF8String DELETE = UTF8String.fromString("delete");

  private final int columns;
  private UnsafeProjection projection;

  Changes(Program program) {
    super(program, new Layout(List.of()));
    columns = ChangeWriter.row(program.row()).size();
  }

  @Override
  void take(UnsafeRow exit, Position position) {
    context.used(1);
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size()).copy();
    bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), new Change(position.time, position.source, position.partition,
        position.offset, key, exit.getStruct(Program.EXIT_ROW, program.row().size()).copy()));
  }

  @Override
  long join(ByteReader history, List<Change> brought, ByteWriter out) {
    long sequence = history == null ? 0 : history.readUnsigned();
    for (Change change : brought) {
      context.emit(new Output(program.port(), change.time, change.source, change.partition, change.offset, row(change, sequence++)));
    }
    out.writeUnsigned(sequence);
    return NEVER;
  }

  private byte[] row(Change change, long sequence) {
    StructField[] keys = program.key().fields();
    Object[] values = new Object[keys.length + 4];
    int at = 0;
    for (; at < keys.length; at++) {
      values[at] = change.key.isNullAt(at) ? null : change.key.get(at, keys[at].dataType());
    }
    UnsafeRow before = change.pair.isNullAt(TableSpec.BEFORE) ? null : change.pair.getStruct(TableSpec.BEFORE, columns);
    UnsafeRow after = change.pair.isNullAt(TableSpec.AFTER) ? null : change.pair.getStruct(TableSpec.AFTER, columns);
    values[at++] = before == null ? INSERT : after == null ? DELETE : UPDATE;
    values[at++] = before;
    values[at++] = after;
    values[at] = sequence;
    if (projection == null) {
      projection = UnsafeProjection.create(program.output());
    }
    return projection.apply(new GenericInternalRow(values)).copy().getBytes();
  }

  @Override
  long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given) {
    out.writeUnsigned(history.readUnsigned());
    return NEVER;
  }

  @Override
  public long size(headrace.aggregate.Partials batch, int entry) {
    return 4;
  }
}
