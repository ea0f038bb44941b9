package headrace.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AggregatesTest {
  private static final DataType[] COLUMNS = {DataTypes.LongType, DataTypes.DoubleType, DataTypes.StringType, new DecimalType(12, 2),
      new DecimalType(38, 4), DataTypes.BooleanType, DataTypes.FloatType, DataTypes.BinaryType, DataTypes.ShortType};
  private static final UnsafeProjection ROWS = UnsafeProjection.create(COLUMNS);

  private record Event(UnsafeRow inputs, Position position) {}

  private static Event event(long time, long offset, Object... values) {
    UnsafeRow row = ROWS.apply(new GenericInternalRow(Arrays.copyOf(values, COLUMNS.length))).copy();
    return new Event(row, new Position().at(time, 1, 2, offset));
  }

  private static AggregateSpec spec(String function, int input, DataType result) {
    return new AggregateSpec("a", function, input, input < 0 ? null : COLUMNS[input], result, Map.of());
  }

  /** The result over the events, alone and in every way of cutting them in two, with the halves stored and read. */
  private static Object result(AggregateSpec spec, List<Event> events) {
    Layout layout = Layout.of(List.of(spec));
    Slots whole = layout.scratch();
    events.forEach(event -> layout.add(whole, event.inputs, event.position));
    Object expected = layout.aggregate(0).result(whole);
    for (int cut = 0; cut <= events.size(); cut += Math.max(1, events.size() / 7)) {
      Slots left = stored(layout, events.subList(0, cut));
      layout.merge(left, stored(layout, events.subList(cut, events.size())));
      assertEquals(events.size(), layout.rows(left));
      Object cutResult = layout.aggregate(0).result(left);
      if (expected instanceof Double number) {
        assertEquals(number, (Double) cutResult, Math.abs(number) * 1e-15);
      } else {
        assertEquals(text(expected), text(cutResult), spec.function() + " cut at " + cut);
      }
    }
    return expected;
  }

  private static Slots stored(Layout layout, List<Event> events) {
    Slots slots = layout.scratch();
    events.forEach(event -> layout.add(slots, event.inputs, event.position));
    ByteWriter out = new ByteWriter(8);
    layout.write(slots, out);
    Slots read = layout.scratch();
    ByteReader in = new ByteReader().over(out.toBytes());
    layout.read(read, in);
    assertEquals(out.size(), in.position());
    return read;
  }

  private static Object text(Object value) {
    return value instanceof byte[] bytes ? Arrays.toString(bytes) : value;
  }

  private static Decimal decimal(String text, int precision, int scale) {
    return Decimal.apply(new BigDecimal(text), precision, scale);
  }

  private static UTF8String string(String text) {
    return UTF8String.fromString(text);
  }

  @Test
  void countsRowsAndValues() {
    List<Event> events = List.of(event(1, 1, 5L), event(2, 2, (Object) null), event(3, 3, 7L));
    assertEquals(3L, result(spec("count", -1, DataTypes.LongType), events));
    assertEquals(2L, result(spec("count", 0, DataTypes.LongType), events));
  }

  @Test
  void nothingButNullsIsNull() {
    List<Event> events = List.of(event(1, 1), event(2, 2));
    for (int column = 0; column < COLUMNS.length; column++) {
      assertNull(result(spec("min", column, COLUMNS[column]), events));
      assertNull(result(spec("max", column, COLUMNS[column]), events));
      assertNull(result(spec("last", column, COLUMNS[column]), events));
    }
    assertNull(result(spec("sum", 0, DataTypes.LongType), events));
    assertNull(result(spec("avg", 0, DataTypes.DoubleType), events));
    assertNull(result(spec("sum", 1, DataTypes.DoubleType), events));
    assertNull(result(spec("sum", 4, new DecimalType(38, 4)), events));
    assertEquals(0L, result(spec("approx_count_distinct", 0, DataTypes.LongType), events));
  }

  @Test
  void aSumMayPassTheLimitsOfLongOnItsWay() {
    AggregateSpec sum = spec("sum", 0, DataTypes.LongType);
    assertEquals(Long.MAX_VALUE - 1, result(sum, List.of(event(1, 1, Long.MAX_VALUE), event(2, 2, Long.MAX_VALUE),
        event(3, 3, Long.MIN_VALUE))));
    assertEquals(Long.MIN_VALUE, result(sum, List.of(event(1, 1, Long.MIN_VALUE), event(2, 2, Long.MIN_VALUE), event(3, 3, Long.MAX_VALUE),
        event(4, 4, 1L))));
    assertSame(Aggregate.OVERFLOW, result(sum, List.of(event(1, 1, Long.MAX_VALUE), event(2, 2, 1L))));
    assertSame(Aggregate.OVERFLOW, result(sum, List.of(event(1, 1, Long.MIN_VALUE), event(2, 2, -1L))));
    assertEquals(-3.0, result(spec("avg", 0, DataTypes.DoubleType), List.of(event(1, 1, -2L), event(2, 2, -4L))));
  }

  @Test
  void decimalsAreExact() {
    List<Event> events = List.of(event(1, 1, null, null, null, decimal("0.10", 12, 2)), event(2, 2, null, null, null, decimal("0.20", 12, 2)),
        event(3, 3, null, null, null, decimal("-9999999999.99", 12, 2)));
    assertEquals(decimal("-9999999999.69", 22, 2), result(spec("sum", 3, new DecimalType(22, 2)), events));
    assertEquals(decimal("-3333333333.230000", 16, 6), result(spec("avg", 3, new DecimalType(16, 6)), events));
    assertSame(Aggregate.OVERFLOW, result(spec("sum", 3, new DecimalType(5, 2)), events));
    List<Event> thirds = List.of(event(1, 1, null, null, null, decimal("1.00", 12, 2)), event(2, 2, null, null, null, decimal("1.00", 12, 2)),
        event(3, 3, null, null, null, decimal("0.00", 12, 2)));
    assertEquals(decimal("0.666667", 16, 6), result(spec("avg", 3, new DecimalType(16, 6)), thirds));
  }

  @Test
  void wideDecimalsPassAnyLimitOnTheirWay() {
    Decimal most = decimal("9999999999999999999999999999999999.9999", 38, 4);
    Decimal least = decimal("-9999999999999999999999999999999999.9999", 38, 4);
    DecimalType type = new DecimalType(38, 4);
    List<Event> back = List.of(event(1, 1, null, null, null, null, most), event(2, 2, null, null, null, null, most),
        event(3, 3, null, null, null, null, least));
    assertEquals(most, result(spec("sum", 4, type), back));
    assertSame(Aggregate.OVERFLOW, result(spec("sum", 4, type), back.subList(0, 2)));
    assertEquals(most, result(spec("max", 4, type), back));
    assertEquals(least, result(spec("min", 4, type), back));
  }

  @Test
  void doublesAreCompensated() {
    List<Event> events = new ArrayList<>();
    events.add(event(0, 0, null, 1e16));
    for (int i = 1; i <= 1000; i++) {
      events.add(event(i, i, null, 1.0));
    }
    events.add(event(1001, 1001, null, -1e16));
    assertEquals(1000.0, result(spec("sum", 1, DataTypes.DoubleType), events));
    assertEquals(Double.POSITIVE_INFINITY, result(spec("sum", 1, DataTypes.DoubleType),
        List.of(event(1, 1, null, Double.POSITIVE_INFINITY), event(2, 2, null, 1.0))));
  }

  @Test
  void orderIsThatOfTheType() {
    List<Event> numbers = List.of(event(1, 1, 5L, -0.5), event(2, 2, -5L, Double.NaN), event(3, 3, 0L, -7.5));
    assertEquals(-5L, result(spec("min", 0, DataTypes.LongType), numbers));
    assertEquals(-7.5, result(spec("min", 1, DataTypes.DoubleType), numbers));
    Layout layout = Layout.of(List.of(spec("max", 1, DataTypes.DoubleType)));
    Slots slots = layout.scratch();
    numbers.forEach(event -> layout.add(slots, event.inputs, event.position));
    assertEquals(Double.NaN, layout.aggregate(0).result(slots), "NaN is the greatest, as in Spark");
    List<Event> strings = List.of(event(1, 1, null, null, string("b")), event(2, 2, null, null, string("ä")), event(3, 3, null, null, string("Z")));
    assertEquals(string("Z"), result(spec("min", 2, DataTypes.StringType), strings));
    assertEquals(string("ä"), result(spec("max", 2, DataTypes.StringType), strings));
    List<Event> others = List.of(event(1, 1, null, null, null, null, null, true, -1.5f, new byte[] {1}, (short) -3),
        event(2, 2, null, null, null, null, null, false, 2.5f, new byte[] {-1}, (short) 3));
    assertEquals(false, result(spec("min", 5, DataTypes.BooleanType), others));
    assertEquals(2.5f, result(spec("max", 6, DataTypes.FloatType), others));
    assertEquals("[-1]", text(result(spec("max", 7, DataTypes.BinaryType), others)), "bytes are unsigned");
    assertEquals((short) -3, result(spec("min", 8, DataTypes.ShortType), others));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void firstAndLastDoNotDependOnArrival(long seed) {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      events.add(event(i / 4 % 5, i, (long) i, null, i % 3 == 0 ? null : string("v" + i)));
    }
    Collections.shuffle(events, new Random(seed));
    assertEquals(0L, result(spec("first", 0, DataTypes.LongType), events));
    assertEquals(39L, result(spec("last", 0, DataTypes.LongType), events));
    assertNull(result(spec("first", 2, DataTypes.StringType), events), "a null is a value");
    assertNull(result(spec("last", 2, DataTypes.StringType), events), "a null is a value");
  }

  @Test
  void distinctCountsDoNotDependOnCuts() {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      events.add(event(i, i, (long) (i % 1000), null, string("v" + i % 7)));
    }
    assertEquals(1000, (Long) result(spec("approx_count_distinct", 0, DataTypes.LongType), events), 100);
    assertEquals(7L, result(spec("approx_count_distinct", 2, DataTypes.StringType), events));
    assertEquals(0L, result(spec("approx_count_distinct", 2, DataTypes.StringType), List.of()));
  }

  @Test
  void whatCannotBeIsRefusedAtOnce() {
    assertThrows(IllegalArgumentException.class, () -> spec("median", 0, DataTypes.LongType).build());
    assertThrows(IllegalArgumentException.class, () -> spec("sum", 2, DataTypes.LongType).build());
    assertThrows(IllegalArgumentException.class, () -> spec("sum", -1, DataTypes.LongType).build());
  }
}
