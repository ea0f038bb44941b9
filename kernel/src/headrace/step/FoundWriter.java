package headrace.step;

import headrace.pattern.Event;
import headrace.pattern.Found;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/** Matches as rows of their port, partial ones as rows of theirs: the key, start and end, and for each step the events that it took. */
final class FoundWriter {
  private final Program program;
  private final Matching matching;
  private final EventRows rows;
  private UnsafeProjection output;

  FoundWriter(Program program, EventRows rows) {
    this.program = program;
    matching = program.matching();
    this.rows = rows;
  }

  /** The port by which it leaves. */
  int port(Found found) {
    return found.complete() ? program.port() : matching.timedOutPort();
  }

  /** What was found for the key of the rows, as the bytes of a row; null where nobody wants it. */
  byte[] write(Found found) {
    if (!found.complete() && matching.timedOutPort() == null) {
      return null;
    }
    if (output == null) {
      output = UnsafeProjection.create(program.output());
    }
    UnsafeRow key = rows.key();
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
    return new GenericArrayData(events.stream().map(rows::of).toArray());
  }
}
