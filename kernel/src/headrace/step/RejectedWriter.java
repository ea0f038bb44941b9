package headrace.step;

import headrace.expression.Compiled;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.types.UTF8String;

/** Rows on which a step failed by itself, as rows of the rejected port: they carry themselves as a message. */
final class RejectedWriter {
  private static final int TOPIC = 0;
  private static final int VALUE = 5;
  private static final int STEP = 6;
  private static final int REASON = 7;

  private final Program program;
  private final String topic;
  private UnsafeProjection shown;
  private UnsafeProjection rejected;

  RejectedWriter(Program program, String topic) {
    this.program = program;
    this.topic = topic;
  }

  /** {@code message}: how a row is shown, see {@link Compiled}. */
  byte[] write(String message, UnsafeRow row, String reason) {
    if (rejected == null) {
      shown = Compiled.projection(message);
      rejected = UnsafeProjection.create(Program.REJECTED);
    }
    UnsafeRow text = shown.apply(row);
    Object[] values = new Object[Program.REJECTED.size()];
    values[TOPIC] = UTF8String.fromString(topic);
    values[VALUE] = text.isNullAt(0) ? null : text.getBinary(0);
    values[STEP] = UTF8String.fromString(program.name());
    values[REASON] = UTF8String.fromString(reason);
    return rejected.apply(new GenericInternalRow(values)).copy().getBytes();
  }
}
