package headrace.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class KeepingTest {
  private static Layout layout(String function, int input, Map<String, String> options) {
    DataType result = function.startsWith("collect") ? new ArrayType(Rows.TYPES[input], false) : DataTypes.LongType;
    return Layout.of(List.of(new AggregateSpec("items", function, input, Rows.TYPES[input], result, options)));
  }

  private static Object result(Layout layout, List<Rows.Event> events) {
    Object result = layout.aggregate(0).result(Rows.added(layout, events));
    return result instanceof ArrayData array ? Arrays.asList(array.toObjectArray(DataTypes.LongType)) : result;
  }

  private static List<Rows.Event> numbers(long... numbers) {
    List<Rows.Event> events = new ArrayList<>();
    for (int i = 0; i < numbers.length; i++) {
      events.add(Rows.event(numbers.length - i, i, numbers[i]));
    }
    return events;
  }

  @Test
  void valuesAreInTheOrderOfTheirEventsTimes() {
    assertEquals(List.of(3L, 1L, 3L), result(layout("collect_list", Rows.LONG, Map.of()), numbers(3, 1, 3)));
    assertEquals(List.of(2L, 3L, 1L), result(layout("collect_set", Rows.LONG, Map.of()), numbers(3, 1, 3, 2)));
    assertEquals(List.of(), result(layout("collect_list", Rows.LONG, Map.of()), List.of(Rows.event(1, 1))));
    assertEquals(0L, result(layout("count_distinct", Rows.LONG, Map.of()), List.of(Rows.event(1, 1))));
  }

  @Test
  void pastTheLimitThereIsNoResultAndNothingIsKept() {
    Layout list = layout("collect_list", Rows.LONG, Map.of("limit", "1000"));
    List<Rows.Event> events = numbers(new long[1000]);
    assertEquals(1000, ((List<?>) result(list, events)).size());
    events.add(Rows.event(0, 1000, 1L));
    Unfit unfit = (Unfit) result(list, events);
    assertEquals("collect_list items has more than 1,000 values",
        new AggregateSpec("items", "collect_list", 0, DataTypes.LongType, DataTypes.LongType, Map.of()).reason(unfit));
    assertEquals(2 + 1, Rows.written(list, Rows.added(list, events)).length, "two bytes of the row count, one of the list");
    assertEquals(1L, result(layout("count_distinct", Rows.LONG, Map.of("limit", "1")), numbers(4, 4, 4)));
    assertEquals(new Unfit("has more than 1 value"), result(layout("count_distinct", Rows.LONG, Map.of("limit", "1")), numbers(4, 5)));
  }

  @Test
  void theDefaultLimitIsTenThousand() {
    Layout distinct = layout("count_distinct", Rows.LONG, Map.of());
    long[] many = new long[10_001];
    Arrays.setAll(many, i -> i);
    assertEquals(10_000L, result(distinct, numbers(Arrays.copyOf(many, 10_000))));
    assertEquals(new Unfit("has more than 10,000 values"), result(distinct, numbers(many)));
  }

  @Test
  void whatIsKeptIsCountedAsMemory() {
    Layout layout = layout("collect_list", Rows.LONG, Map.of());
    Partials partials = new Partials(layout, 8);
    long before = partials.bytes();
    Rows.Event key = Rows.event(0, 0, 7L);
    for (Rows.Event event : numbers(new long[1000])) {
      partials.add(0, 1, key.inputs(), event.inputs(), event.position());
    }
    assertTrue(partials.bytes() - before > 1000 * Long.BYTES, "a task sends on what it combined before it fills the memory");
    partials.clear();
    assertTrue(partials.bytes() <= before);
  }

  /** What a checkpoint holds: these bytes are read for as long as the codec's name stays. */
  @Test
  void storedBytesStayAsTheyAre() {
    List<Rows.Event> events = List.of(Rows.event(5, 7, -1L, 1.5, UTF8String.fromString("b"), null, null, null, null, null,
        new GenericInternalRow(new Object[] {9L, UTF8String.fromString("b")})), Rows.event(6, 8, 3L, 2.5, UTF8String.fromString("a"), null,
            null, null, null, null, new GenericInternalRow(new Object[] {null, UTF8String.fromString("c")})));
    assertEquals("02030a01010e010201020206", hex("collect_list", Rows.LONG, events));
    assertEquals("02030a01010e0162020102020161", hex("collect_set", Rows.STRING, events));
    assertEquals("02030108", hex("count_distinct", Rows.LONG, events));
    assertEquals("020301610162", hex("count_distinct", Rows.STRING, events));
    assertEquals("02020a01010e016212", hex("min_by", Rows.LONG_BY_STRING, events));
    assertEquals("02010c0102100163", hex("max_by", Rows.LONG_BY_STRING, events));
    assertEquals("02020000000000000040000000000000e03f", hex("var_pop", Rows.DOUBLE, events));
  }

  private static String hex(String function, int input, List<Rows.Event> events) {
    DataType result = function.startsWith("var") ? DataTypes.DoubleType : DataTypes.LongType;
    Layout layout = Layout.of(List.of(new AggregateSpec("a", function, input, Rows.TYPES[input], result, Map.of())));
    return HexFormat.of().formatHex(Rows.written(layout, Rows.added(layout, events)));
  }

  @Test
  void ofEqualOnesTheEarliestWins() {
    Layout by = layout("max_by", Rows.LONG_BY_STRING, Map.of());
    Object late = new GenericInternalRow(new Object[] {1L, UTF8String.fromString("x")});
    Object early = new GenericInternalRow(new Object[] {2L, UTF8String.fromString("x")});
    Object nothing = new GenericInternalRow(new Object[] {3L, null});
    Object[] columns = new Object[Rows.TYPES.length];
    List<Rows.Event> events = new ArrayList<>();
    for (Object pair : List.of(late, early, nothing)) {
      columns[Rows.LONG_BY_STRING] = pair;
      events.add(Rows.event(10 - events.size(), events.size(), columns));
    }
    assertEquals(2L, result(by, events));
    assertNull(result(by, events.subList(2, 3)), "a null to go by is no row to choose");
  }
}
