package headrace.step;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/** Changes of a table's rows as rows of its port: what was there before, and what is there now. */
final class ChangeWriter {
  private final StructType output;
  private final UnsafeRow before;
  private final UnsafeRow after;
  private UnsafeProjection projection;

  /** {@code output}: struct of before and after. */
  ChangeWriter(StructType output) {
    this.output = output;
    int fields = row(output).size();
    before = new UnsafeRow(fields);
    after = new UnsafeRow(fields);
  }

  /** The type of a row of the table. */
  static StructType row(StructType output) {
    return (StructType) output.fields()[TableSpec.AFTER].dataType();
  }

  /** The change from one row to another, either of them null for none; null when nothing changed. */
  byte[] change(byte[] from, byte[] to) {
    if (Arrays.equals(from, to)) {
      return null;
    }
    if (projection == null) {
      projection = UnsafeProjection.create(output);
    }
    Object[] both = {at(before, from), at(after, to)};
    return projection.apply(new GenericInternalRow(both)).copy().getBytes();
  }

  private static UnsafeRow at(UnsafeRow row, byte[] bytes) {
    if (bytes == null) {
      return null;
    }
    row.pointTo(bytes, bytes.length);
    return row;
  }
}
