package headrace.step;

import java.util.Comparator;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** A row of one side of a join: when and where it was, and where its key and its columns are in bytes that it does not own. */
final class JoinRow {
  static final Comparator<JoinRow> BY_PLACE = Comparator.comparingInt((JoinRow row) -> row.source).thenComparingInt(row -> row.partition)
      .thenComparingLong(row -> row.offset);
  static final Comparator<JoinRow> BY_TIME = Comparator.comparingLong((JoinRow row) -> row.time).thenComparing(BY_PLACE);

  final long time;
  final int source;
  final int partition;
  final long offset;
  private final byte[] bytes;
  private final int keyAt;
  private final int keyLength;
  private final int columnsAt;
  final int length;
  /** Whether a row of the other side has been found. */
  boolean matched;

  JoinRow(long time, int source, int partition, long offset, byte[] bytes, int keyAt, int keyLength, int columnsAt, int length) {
    this.time = time;
    this.source = source;
    this.partition = partition;
    this.offset = offset;
    this.bytes = bytes;
    this.keyAt = keyAt;
    this.keyLength = keyLength;
    this.columnsAt = columnsAt;
    this.length = length;
  }

  /** Points a row at the key. */
  void key(UnsafeRow row) {
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + (long) keyAt, keyLength);
  }

  /** Points a row at the columns beside the key. */
  void columns(UnsafeRow row) {
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + (long) columnsAt, length);
  }

  byte[] bytes() {
    return bytes;
  }

  int columnsAt() {
    return columnsAt;
  }
}
