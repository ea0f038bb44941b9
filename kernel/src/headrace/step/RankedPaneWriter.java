package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Slots;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Panes of several rows: one for each rank, with the columns that the ranked row has.
 *
 * <p>Where panes are taken back, only what differs is: a row that stands at its rank as before is neither taken back nor given again, and
 * goes on as it was given. What is remembered of a pane is its rows one after another, each as it left.
 */
final class RankedPaneWriter extends PaneWriter {
  private static final byte[] NOTHING = {};

  private final StructType shown;
  private final StructType lasting;
  private final UnsafeRow given;
  private UnsafeProjection identity;

  RankedPaneWriter(Program program, Layout layout) {
    super(program, layout);
    shown = program.shown();
    given = new UnsafeRow(program.output().size());
    int about = program.output().size() - ABOUT - (changes ? 1 : 0);
    lasting = new StructType(java.util.Arrays.copyOf(program.output().fields(), about));
  }

  @Override
  byte[] give(Slots slots, About about, List<byte[]> before, Context context, Collection<Output> out) {
    List<byte[]> rows = rows(slots, about);
    if (!changes) {
      rows.forEach(row -> out.add(output(row, about.time(), context)));
      return NOTHING;
    }
    Map<UTF8String, byte[]> standing = new LinkedHashMap<>();
    before.forEach(pane -> read(pane, standing));
    ByteWriter written = new ByteWriter(64);
    List<byte[]> fresh = new ArrayList<>();
    for (byte[] row : rows) {
      byte[] known = standing.remove(identity(row));
      written.writeBytes(known == null ? row : known);
      if (known == null) {
        fresh.add(row);
      }
    }
    standing.values().forEach(row -> out.add(output(takenBack(row), about.time(), context)));
    fresh.forEach(row -> out.add(output(row, about.time(), context)));
    return written.toBytes();
  }

  private List<byte[]> rows(Slots slots, About about) {
    ArrayData ranked = (ArrayData) layout.aggregate(0).result(slots);
    List<byte[]> rows = new ArrayList<>(ranked.numElements());
    for (int i = 0; i < ranked.numElements(); i++) {
      rows.add(row(about, made(i + 1, ranked.getStruct(i, shown.size()), shown)));
    }
    return rows;
  }

  /** The rank, and the columns of the row. */
  static Object[] made(int rank, InternalRow row, StructType shown) {
    Object[] made = new Object[1 + shown.size()];
    made[0] = rank;
    for (int i = 0; i < shown.size(); i++) {
      made[1 + i] = row.isNullAt(i) ? null : row.get(i, shown.fields()[i].dataType());
    }
    return made;
  }

  private void read(byte[] pane, Map<UTF8String, byte[]> to) {
    ByteReader in = new ByteReader().over(pane);
    while (in.hasRemaining()) {
      byte[] row = in.readBytes();
      to.put(identity(row), row);
    }
  }

  /** Key, window, rank and columns: all but what the pane says of itself. */
  private UTF8String identity(byte[] row) {
    if (identity == null) {
      identity = UnsafeProjection.create(lasting);
    }
    given.pointTo(row, row.length);
    return UTF8String.fromBytes(identity.apply(given).copy().getBytes());
  }
}
