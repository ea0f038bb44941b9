package headrace.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Random rows of many types, and the ways in which they may reach an aggregate: all at once, or in parts, stored and read. */
final class Rows {
  static final int LONG = 0;
  static final int DOUBLE = 1;
  static final int STRING = 2;
  static final int DECIMAL = 3;
  static final int WIDE = 4;
  static final int BOOLEAN = 5;
  static final int BYTES = 6;
  static final int LIST = 7;
  static final int LONG_BY_STRING = 8;
  static final int STRING_BY_DOUBLE = 9;
  static final int WIDE_BY_LIST = 10;
  static final int STRING_AND_LONG = 11;
  static final DataType[] TYPES = {DataTypes.LongType, DataTypes.DoubleType, DataTypes.StringType, new DecimalType(12, 2),
      new DecimalType(38, 4), DataTypes.BooleanType, DataTypes.BinaryType, new ArrayType(DataTypes.DoubleType, true),
      pair(DataTypes.LongType, DataTypes.StringType), pair(DataTypes.StringType, DataTypes.DoubleType),
      pair(new DecimalType(38, 4), new ArrayType(DataTypes.DoubleType, true)), pair(DataTypes.StringType, DataTypes.LongType)};
  private static final UnsafeProjection PROJECTION = UnsafeProjection.create(TYPES);

  record Event(UnsafeRow inputs, Position position) {}

  private Rows() {}

  private static StructType pair(DataType first, DataType second) {
    return new StructType().add("v0", first).add("v1", second);
  }

  static Event event(long time, long offset, Object... values) {
    UnsafeRow row = PROJECTION.apply(new GenericInternalRow(Arrays.copyOf(values, TYPES.length))).copy();
    return new Event(row, new Position().at(time, 1, (int) (offset % 3), offset));
  }

  /** Few different values, many nulls, equal times: what makes ties. */
  static List<Event> random(Random dice, int count) {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Object number = maybe(dice, (long) dice.nextInt(20) - 10);
      Object real = maybe(dice, dice.nextInt(8) == 0 ? -0.0 : dice.nextInt(40) / 8.0 - 2);
      Object string = maybe(dice, UTF8String.fromString("v" + dice.nextInt(9)));
      Object wide = maybe(dice, Decimal.apply(new BigDecimal("12345678901234567890123." + dice.nextInt(10) + "000"), 38, 4));
      Object list = maybe(dice, new GenericArrayData(new Object[] {dice.nextInt(3) / 2.0, null, dice.nextBoolean() ? 0.0 : -0.0}));
      Object price = maybe(dice, Decimal.apply(new BigDecimal(dice.nextInt(99) + ".25"), 12, 2));
      events.add(event(dice.nextInt(10), i, number, real, string, price, wide,
          maybe(dice, dice.nextBoolean()), maybe(dice, new byte[] {(byte) dice.nextInt(5), 1}), list, row(number, string),
          row(string, real), row(wide, list), row(string, number)));
    }
    return events;
  }

  private static Object row(Object... values) {
    return new GenericInternalRow(values);
  }

  private static Object maybe(Random dice, Object value) {
    return dice.nextInt(5) == 0 ? null : value;
  }

  /** The slots after the events, one by one in this order. */
  static Slots added(Layout layout, List<Event> events) {
    Slots slots = layout.scratch();
    events.forEach(event -> layout.add(slots, event.inputs, event.position));
    return slots;
  }

  static byte[] written(Layout layout, Slots slots) {
    ByteWriter out = new ByteWriter(8);
    layout.write(slots, out);
    return out.toBytes();
  }

  static Slots stored(Layout layout, Slots slots) {
    byte[] bytes = written(layout, slots);
    Slots read = layout.scratch();
    ByteReader in = new ByteReader().over(bytes);
    layout.read(read, in);
    assertEquals(bytes.length, in.position());
    return read;
  }

  /** The slots after the events were dealt out at random to some parts, each maybe stored, merged into the first, more rows between. */
  static Slots parts(Layout layout, List<Event> events, Random dice) {
    List<List<Event>> parts = new ArrayList<>();
    for (int i = 0; i < 2 + dice.nextInt(2); i++) {
      parts.add(new ArrayList<>());
    }
    for (Event event : events) {
      parts.get(dice.nextInt(parts.size())).add(event);
    }
    Slots whole = layout.scratch();
    for (List<Event> part : parts) {
      int cut = part.isEmpty() ? 0 : dice.nextInt(part.size());
      Slots slots = added(layout, part.subList(0, cut));
      layout.merge(whole, dice.nextBoolean() ? stored(layout, slots) : slots);
      part.subList(cut, part.size()).forEach(event -> layout.add(whole, event.inputs, event.position));
    }
    return dice.nextBoolean() ? stored(layout, whole) : whole;
  }
}
