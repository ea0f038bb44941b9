package headrace.aggregate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class TopRowsTest {
  private static final DataType SHOWN = new ArrayType(new StructType().add("v0", DataTypes.StringType), false);

  private static Layout layout(int input, int rows, String order) {
    Map<String, String> options = Map.of("rows", "" + rows, "order", order);
    return Layout.of(List.of(new AggregateSpec("top", "top", input, Rows.TYPES[input], SHOWN, options)));
  }

  private static List<String> result(Layout layout, Slots slots) {
    ArrayData rows = (ArrayData) layout.aggregate(0).result(slots);
    List<String> shown = new ArrayList<>();
    for (int i = 0; i < rows.numElements(); i++) {
      UnsafeRow row = (UnsafeRow) rows.getStruct(i, 2);
      shown.add((row.isNullAt(0) ? null : row.getUTF8String(0)) + " " + (row.isNullAt(1) ? null : row.getLong(1)));
    }
    return shown;
  }

  /** By the number, greatest first, nulls last; then by time and place: in words of its own. */
  private static List<String> expected(List<Rows.Event> events, int rows) {
    Comparator<Rows.Event> byNumber = Comparator.comparing(TopRowsTest::number, Comparator.nullsLast(Comparator.reverseOrder()));
    return events.stream()
        .sorted(byNumber.thenComparing((Rows.Event event) -> event.position().time)
            .thenComparing(event -> event.position().partition).thenComparing(event -> event.position().offset))
        .limit(rows).map(event -> both(event).getUTF8String(0) + " " + number(event)).toList();
  }

  private static Long number(Rows.Event event) {
    return both(event).isNullAt(1) ? null : (Long) both(event).getLong(1);
  }

  private static UnsafeRow both(Rows.Event event) {
    return event.inputs().getStruct(Rows.STRING_AND_LONG, 2);
  }

  @Test
  void theFirstRowsAreTheSameHoweverTheyWereDealtOutJoinedAndStored() {
    Random dice = new Random(11);
    for (int run = 0; run < 300; run++) {
      int rows = 1 + dice.nextInt(6);
      Layout layout = layout(Rows.STRING_AND_LONG, rows, "1 desc last");
      List<Rows.Event> events = Rows.random(dice, dice.nextInt(25));
      List<String> expected = expected(events, rows);
      Collections.shuffle(events, dice);
      Slots whole = Rows.added(layout, events);
      assertEquals(expected, result(layout, whole));
      Slots parts = Rows.parts(layout, events, dice);
      assertEquals(expected, result(layout, parts));
      assertArrayEquals(Rows.written(layout, whole), Rows.written(layout, parts), "equal rows have equal bytes");
    }
  }

  @Test
  void whatWasJoinedStaysAsItWas() {
    Layout layout = layout(Rows.STRING_AND_LONG, 3, "1 asc first");
    Random dice = new Random(5);
    Slots from = Rows.added(layout, Rows.random(dice, 9));
    List<String> before = result(layout, from);
    Slots into = layout.scratch();
    layout.merge(into, from);
    Rows.random(dice, 50).forEach(event -> layout.add(into, event.inputs(), event.position()));
    assertEquals(before, result(layout, from));
  }

  @Test
  void minusZeroIsZeroAndNanIsTheGreatestAsInSpark() {
    Layout layout = layout(Rows.STRING_BY_DOUBLE, 3, "1 desc last");
    Slots slots = layout.scratch();
    double[] numbers = {-0.0, 1, Double.NaN, 0.0};
    for (int i = 0; i < numbers.length; i++) {
      Object[] values = new Object[Rows.TYPES.length];
      values[Rows.STRING_BY_DOUBLE] = new GenericInternalRow(
          new Object[] {UTF8String.fromString("n" + i), numbers[i]});
      Rows.Event event = Rows.event(1, 3L * i, values);
      layout.add(slots, event.inputs(), event.position());
    }
    assertEquals(List.of("n2", "n1", "n0"), result(layout, slots).stream().map(each -> each.split(" ")[0]).toList());
  }

  @Test
  void memoryIsThatOfTheRowsThatAreKept() {
    Layout layout = layout(Rows.STRING_AND_LONG, 2, "1 desc last");
    Slots slots = Rows.added(layout, Rows.random(new Random(3), 1000));
    long two = slots.grown;
    Rows.random(new Random(4), 1000).forEach(event -> layout.add(slots, event.inputs(), event.position()));
    assertEquals(two, slots.grown, 100);
  }

  @Test
  void withoutRowsOrAnOrderItIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> layout(Rows.STRING_AND_LONG, 0, "1 desc last"));
    assertThrows(IllegalArgumentException.class, () -> layout(Rows.STRING_AND_LONG, 1, ""));
    assertThrows(IllegalArgumentException.class, () -> layout(Rows.LONG, 1, "0 desc last"));
  }
}
