package headrace.step;

import headrace.aggregate.Position;
import java.util.Comparator;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** A row of one side of a join: when and where it was, and where its key and its columns are in bytes that it does not own. */
final class JoinRow {
  static final Comparator<JoinRow> BY_PLACE = Comparator.comparingInt((JoinRow row) -> row.source).thenComparingInt(row -> row.partition)
      .thenComparingLong(row -> row.offset);
  static final Comparator<JoinRow> BY_TIME = Comparator.comparingLong((JoinRow row) -> row.time).thenComparing(BY_PLACE);

  static final int NO_COLUMNS = -1;

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

  /** A row as it came, where it lies in the bytes; without columns where they are null. */
  static JoinRow of(UnsafeRow exit, Position position) {
    // Where a struct lies: its offset in the upper half, its size in the lower one.
    long key = exit.getLong(Program.EXIT_KEY);
    long columns = exit.getLong(Program.EXIT_ROW);
    int from = (int) (exit.getBaseOffset() - Platform.BYTE_ARRAY_OFFSET);
    int length = exit.isNullAt(Program.EXIT_ROW) ? NO_COLUMNS : (int) columns;
    return new JoinRow(position.time, position.source, position.partition, position.offset, (byte[]) exit.getBaseObject(),
        from + (int) (key >>> 32), (int) key, from + (int) (columns >>> 32), length);
  }

  /** Whether there is no row: what a table says of a key that it has no more. */
  boolean isTombstone() {
    return length == NO_COLUMNS;
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
