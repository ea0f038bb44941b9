package headrace.deliver;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;

/** Rows as the deliver job gets them: a nullable struct (key, value) per outlet. */
final class Packed {
  private Packed() {}

  /** The text is key and value for the outlet at that place; null is a row that does not go there. */
  static byte[] row(String... outlets) {
    UnsafeRowWriter row = new UnsafeRowWriter(outlets.length);
    row.reset();
    row.zeroOutNullBytes();
    for (int at = 0; at < outlets.length; at++) {
      if (outlets[at] == null) {
        row.setNullAt(at);
      } else {
        int start = row.cursor();
        UnsafeRowWriter pair = new UnsafeRowWriter(row, 2);
        pair.resetRowWriter();
        pair.write(0, outlets[at].getBytes(StandardCharsets.UTF_8));
        pair.write(1, outlets[at].getBytes(StandardCharsets.UTF_8));
        row.setOffsetAndSizeFromPreviousCursor(at, start);
      }
    }
    return row.getRow().getBytes();
  }
}
