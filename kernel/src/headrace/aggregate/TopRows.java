package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.List$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The first so many rows by an order, as {@code row_number() over (order by ...) <= n} would choose them; never more are kept.
 *
 * <p>The input is a struct: the columns that are shown, then those that only the order needs. Rows that the order holds equal go by
 * (event time, source, partition, offset), and last by their bytes: panes of a step before are numbered anew in every epoch.
 */
final class TopRows extends Aggregate {
  private static final int ENTRY_BYTES = 96;

  /** One column that rows are ordered by: its place in the input, and how. */
  record Order(int ordinal, boolean descending, boolean nullsFirst) {
    /** Of {@code "2 desc last"}. */
    static Order of(String text) {
      String[] words = text.split(" ");
      return new Order(Integer.parseInt(words[0]), words[1].equals("desc"), words[2].equals("first"));
    }
  }

  /** A row that is kept, and where it came from. */
  private record Ranked(long time, long where, long offset, UnsafeRow row) {}

  private final int ordinal;
  private final StructType type;
  private final int rows;
  private final List<Order> by;
  private final UnsafeRow coming;
  private Comparator<InternalRow> order;

  TopRows(String name, int ordinal, StructType type, int rows, List<Order> by) {
    super(name);
    this.ordinal = ordinal;
    this.type = type;
    this.rows = rows;
    this.by = by;
    coming = new UnsafeRow(type.size());
  }

  @Override
  public int words() {
    return 0;
  }

  @Override
  public int objects() {
    return 1;
  }

  @Override
  public String codec() {
    return "top(" + rows + "," + by + "," + type.catalogString() + ")";
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    long at = inputs.getLong(ordinal);
    coming.pointTo(inputs.getBaseObject(), inputs.getBaseOffset() + (int) (at >>> 32), (int) at);
    Ranked probe = new Ranked(position.time, Place.where(position), position.offset, coming);
    List<Ranked> kept = kept(slots);
    if (kept == null) {
      kept = new ArrayList<>(Math.min(rows, 8));
      slots.objects[object(slots)] = kept;
    }
    boolean full = kept.size() == rows;
    if (full && compare(probe, kept.get(rows - 1)) >= 0) {
      return;
    }
    int place = Collections.binarySearch(kept, probe, this::compare);
    if (full) {
      slots.grown -= memory(kept.remove(rows - 1));
    }
    Ranked copied = new Ranked(probe.time, probe.where, probe.offset, coming.copy());
    kept.add(place < 0 ? -place - 1 : place, copied);
    slots.grown += memory(copied);
  }

  @Override
  public void merge(Slots into, Slots from) {
    List<Ranked> more = kept(from);
    if (more == null) {
      return;
    }
    List<Ranked> kept = kept(into);
    // Always a list of its own: what one of the two adds later is not the other's.
    into.objects[object(into)] = kept == null ? new ArrayList<>(more) : merged(kept, more);
  }

  private List<Ranked> merged(List<Ranked> left, List<Ranked> right) {
    int size = Math.min(rows, left.size() + right.size());
    List<Ranked> merged = new ArrayList<>(size);
    int i = 0;
    int j = 0;
    while (merged.size() < size) {
      boolean fromLeft = j == right.size() || i < left.size() && compare(left.get(i), right.get(j)) <= 0;
      merged.add(fromLeft ? left.get(i++) : right.get(j++));
    }
    return merged;
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    List<Ranked> kept = kept(slots);
    out.writeUnsigned(kept == null ? 0 : kept.size());
    if (kept == null) {
      return;
    }
    for (Ranked ranked : kept) {
      out.writeSigned(ranked.time);
      // Panes come from sources below zero.
      out.writeSigned(ranked.where >> 32);
      out.writeUnsigned(ranked.where & 0xFFFFFFFFL);
      out.writeSigned(ranked.offset);
      out.writeBytes(ranked.row.getBytes());
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int size = in.readLength();
    if (size == 0) {
      return;
    }
    List<Ranked> kept = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      long time = in.readSigned();
      long where = in.readSigned() << 32;
      where |= in.readUnsigned();
      long offset = in.readSigned();
      byte[] bytes = in.readBytes();
      UnsafeRow row = new UnsafeRow(type.size());
      row.pointTo(bytes, bytes.length);
      kept.add(new Ranked(time, where, offset, row));
    }
    slots.objects[object(slots)] = kept;
  }

  /** The rows from the first on, as they are now; each has the columns that are shown, and more behind them. */
  @Override
  public Object result(Slots slots) {
    List<Ranked> kept = kept(slots);
    return new GenericArrayData(kept == null ? new Object[0] : kept.stream().map(Ranked::row).toArray());
  }

  @SuppressWarnings("unchecked")
  private List<Ranked> kept(Slots slots) {
    return (List<Ranked>) slots.objects[object(slots)];
  }

  private static int memory(Ranked ranked) {
    return ENTRY_BYTES + ranked.row.getSizeInBytes();
  }

  private int compare(Ranked left, Ranked right) {
    if (order == null) {
      order = RowOrdering.create(seq(by.stream().map(this::sorted).toList()), seq(List.<Attribute>of()));
    }
    int versus = order.compare(left.row, right.row);
    if (versus == 0) {
      versus = Place.compare(left.time, left.where, left.offset, right.time, right.where, right.offset);
    }
    return versus != 0 ? versus : bytes(left.row).binaryCompare(bytes(right.row));
  }

  private static UTF8String bytes(UnsafeRow row) {
    return UTF8String.fromAddress(row.getBaseObject(), row.getBaseOffset(), row.getSizeInBytes());
  }

  private SortOrder sorted(Order one) {
    Expression column = new BoundReference(one.ordinal, type.fields()[one.ordinal].dataType(), true);
    return new SortOrder(column, one.descending ? Descending$.MODULE$ : Ascending$.MODULE$,
        one.nullsFirst ? NullsFirst$.MODULE$ : NullsLast$.MODULE$,
        seq(List.<Expression>of()));
  }

  private static <T> Seq<T> seq(List<T> list) {
    return List$.MODULE$.from(CollectionConverters.asScala(list));
  }
}
