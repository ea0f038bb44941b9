package headrace.step;

import headrace.pattern.Event;
import headrace.pattern.Found;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/** Matches as rows of their port, partial ones as rows of theirs: the key, start and end, and for each step the events that it took. */
final class FoundWriter {
  private final Program program;
  private final Matching matching;
  private final UnsafeRow key;
  private final UnsafeRow row;
  private final JoinedRow joined = new JoinedRow();
  private UnsafeProjection output;
  private UnsafeProjection element;

  FoundWriter(Program program) {
    this.program = program;
    matching = program.matching();
    key = new UnsafeRow(program.key().size());
    row = new UnsafeRow(program.row().size());
  }

  /** The port by which it leaves. */
  int port(Found found) {
    return found.complete() ? program.port() : matching.timedOutPort();
  }

  /** What was found for the key that lies there, as the bytes of a row; null where nobody wants it. */
  byte[] write(Found found, Object base, long address, int length) {
    if (!found.complete() && matching.timedOutPort() == null) {
      return null;
    }
    if (output == null) {
      output = UnsafeProjection.create(program.output());
      element = Columns.projection(elementType(), matching.elements());
    }
    key.pointTo(base, address, length);
    int keys = program.key().size();
    Object[] values = new Object[program.output().size()];
    for (int i = 0; i < keys; i++) {
      values[i] = key.isNullAt(i) ? null : key.get(i, program.key().fields()[i].dataType());
    }
    values[keys] = found.start();
    values[keys + 1] = found.end();
    for (int step = 0; step < found.events().size(); step++) {
      values[keys + 2 + step] = events(found.events().get(step));
    }
    return output.apply(new GenericInternalRow(values)).copy().getBytes();
  }

  private GenericArrayData events(List<Event> events) {
    Object[] rows = new Object[events.size()];
    for (int i = 0; i < rows.length; i++) {
      Event event = events.get(i);
      row.pointTo(event.bytes(), Platform.BYTE_ARRAY_OFFSET + (long) event.at(), event.length());
      rows[i] = element.apply(joined.apply(key, row)).copy();
    }
    return new GenericArrayData(rows);
  }

  private StructType elementType() {
    int first = program.key().size() + 2;
    return (StructType) ((ArrayType) program.output().fields()[first].dataType()).elementType();
  }
}
