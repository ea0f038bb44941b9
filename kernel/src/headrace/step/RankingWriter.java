package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Slots;
import java.util.Arrays;
import java.util.Collection;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * How a ranking that stands has changed, as rows of the result port: what is no longer at its rank with -1, then what is there now with +1.
 *
 * <p>Rows are key, rank, the columns of the ranked row, and change; they have a number as panes do, and no time of their own.
 */
final class RankingWriter {
  private final Program program;
  private final Layout layout;
  private final StructType shown;
  private final UnsafeRow key;
  private final DataType[] keyTypes;
  private UnsafeProjection projection;

  RankingWriter(Program program, Layout layout) {
    this.program = program;
    this.layout = layout;
    shown = program.shown();
    key = new UnsafeRow(program.key().size());
    keyTypes = Arrays.stream(program.key().fields()).map(field -> field.dataType()).toArray(DataType[]::new);
  }

  /** The key of the changes to come; to be pointed at its bytes. */
  UnsafeRow key() {
    return key;
  }

  /** The rows that a key has by rank, as they will be told once more: changed slots do not change them. */
  byte[][] rows(Slots slots) {
    ArrayData ranked = (ArrayData) layout.aggregate(0).result(slots);
    byte[][] rows = new byte[ranked.numElements()][];
    for (int i = 0; i < rows.length; i++) {
      Object[] made = RankedPaneWriter.made(i + 1, ranked.getStruct(i, shown.size()), shown);
      Object[] values = new Object[key.numFields() + made.length + 1];
      for (int at = 0; at < key.numFields(); at++) {
        values[at] = key.isNullAt(at) ? null : key.get(at, keyTypes[at]);
      }
      System.arraycopy(made, 0, values, key.numFields(), made.length);
      values[values.length - 1] = 1;
      if (projection == null) {
        projection = UnsafeProjection.create(program.output());
      }
      rows[i] = projection.apply(new GenericInternalRow(values)).copy().getBytes();
    }
    return rows;
  }

  /** What changes from one ranking to another: ranks that have the same row in both do not. */
  void changes(byte[][] before, byte[][] after, Context context, Collection<Output> out) {
    for (int rank = 0; rank < before.length; rank++) {
      if (rank >= after.length || !Arrays.equals(before[rank], after[rank])) {
        out.add(output(takenBack(before[rank]), context));
      }
    }
    for (int rank = 0; rank < after.length; rank++) {
      if (rank >= before.length || !Arrays.equals(before[rank], after[rank])) {
        out.add(output(after[rank], context));
      }
    }
  }

  private byte[] takenBack(byte[] given) {
    byte[] again = given.clone();
    UnsafeRow row = new UnsafeRow(program.output().size());
    row.pointTo(again, again.length);
    row.setInt(program.output().size() - 1, -1);
    return again;
  }

  /** One place in time for all of them, so that nothing but their numbers orders them. */
  private Output output(byte[] payload, Context context) {
    return new Output(program.port(), Context.END, -program.id(), context.group(), context.number(), payload);
  }
}
