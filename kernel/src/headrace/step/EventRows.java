package headrace.step;

import headrace.pattern.Event;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/** The events of a key as the rows that they came as: with the columns of the key, and without their conditions. */
final class EventRows {
  private final Program program;
  private final UnsafeRow key;
  private final UnsafeRow row;
  private final JoinedRow joined = new JoinedRow();
  private UnsafeProjection columns;

  EventRows(Program program) {
    this.program = program;
    key = new UnsafeRow(program.key().size());
    row = new UnsafeRow(program.row().size());
  }

  /** Goes on with the key that lies there. */
  void open(Object base, long address, int length) {
    key.pointTo(base, address, length);
  }

  UnsafeRow key() {
    return key;
  }

  /** The row of an event, which is the caller's. */
  UnsafeRow of(Event event) {
    if (columns == null) {
      columns = Columns.projection(type(), program.matching().elements());
    }
    row.pointTo(event.bytes(), Platform.BYTE_ARRAY_OFFSET + (long) event.at(), event.length());
    return columns.apply(joined.apply(key, row)).copy();
  }

  private StructType type() {
    int first = program.key().size() + 2;
    return (StructType) ((ArrayType) program.output().fields()[first].dataType()).elementType();
  }
}
