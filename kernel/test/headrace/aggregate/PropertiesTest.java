package headrace.aggregate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every aggregate of ours: order and cuts do not show, what is stored is read, what is taken back never came. */
class PropertiesTest {
  private static final DataType LONG = DataTypes.LongType;
  private static final DataType DOUBLE = DataTypes.DoubleType;

  static List<AggregateSpec> specs() {
    return List.of(spec("count", -1, LONG), spec("count", Rows.STRING, LONG), spec("sum", Rows.LONG, LONG),
        spec("sum", Rows.DOUBLE, DOUBLE),
        spec("sum", Rows.DECIMAL, new DecimalType(22, 2)), spec("sum", Rows.WIDE, new DecimalType(38, 4)), spec("avg", Rows.LONG, DOUBLE),
        spec("avg", Rows.DECIMAL, new DecimalType(16, 6)), spec("avg", Rows.WIDE, new DecimalType(38, 8)), spec("min", Rows.LONG, LONG),
        spec("max", Rows.STRING, DataTypes.StringType), spec("first", Rows.STRING, DataTypes.StringType), spec("last", Rows.LONG, LONG),
        spec("first", Rows.LONG, LONG, "ignore_nulls", "true"), spec("last", Rows.LIST, Rows.TYPES[Rows.LIST], "ignore_nulls", "true"),
        spec("bool_and", Rows.BOOLEAN, DataTypes.BooleanType), spec("bool_or", Rows.BOOLEAN, DataTypes.BooleanType),
        spec("min_by", Rows.LONG_BY_STRING, LONG), spec("max_by", Rows.LONG_BY_STRING, LONG),
        spec("min_by", Rows.STRING_BY_DOUBLE, DataTypes.StringType), spec("max_by", Rows.WIDE_BY_LIST, new DecimalType(38, 4)),
        spec("stddev_samp", Rows.DOUBLE, DOUBLE), spec("stddev_pop", Rows.DOUBLE, DOUBLE), spec("var_samp", Rows.DOUBLE, DOUBLE),
        spec("var_pop", Rows.DOUBLE, DOUBLE), spec("approx_count_distinct", Rows.STRING, LONG),
        spec("count_distinct", Rows.LONG, LONG), spec("count_distinct", Rows.DOUBLE, LONG), spec("count_distinct", Rows.STRING, LONG),
        spec("count_distinct", Rows.WIDE, LONG), spec("count_distinct", Rows.LIST, LONG),
        spec("count_distinct", Rows.STRING_AND_LONG, LONG, "columns", "2"),
        spec("count_distinct", Rows.STRING_AND_LONG, LONG, "columns", "2", "limit", "30"), collected("collect_list", Rows.LONG),
        collected("collect_list", Rows.DOUBLE), collected("collect_list", Rows.BYTES), collected("collect_list", Rows.LIST),
        collected("collect_list", Rows.WIDE), collected("collect_list", Rows.STRING, "limit", "20"), collected("collect_set", Rows.LONG),
        collected("collect_set", Rows.DOUBLE), collected("collect_set", Rows.STRING), collected("collect_set", Rows.LIST),
        collected("collect_set", Rows.BYTES, "limit", "3"), collected("collect_set", Rows.STRING, "limit", "9"));
  }

  private static AggregateSpec spec(String function, int input, DataType result, String... options) {
    Map<String, String> map = options.length == 0 ? Map.of() : options.length == 2 ? Map.of(options[0], options[1])
        : Map.of(options[0], options[1], options[2], options[3]);
    return new AggregateSpec("a", function, input, input < 0 ? null : Rows.TYPES[input], result, map);
  }

  private static AggregateSpec collected(String function, int input, String... options) {
    return spec(function, input, new ArrayType(Rows.TYPES[input], false), options);
  }

  @ParameterizedTest
  @MethodSource("specs")
  void orderAndCutsDoNotShow(AggregateSpec spec) {
    Layout layout = Layout.of(List.of(spec));
    for (int seed = 0; seed < 30; seed++) {
      Random dice = new Random(seed);
      List<Rows.Event> events = Rows.random(dice, dice.nextInt(60));
      Slots whole = Rows.added(layout, events);
      Collections.shuffle(events, dice);
      Slots parts = Rows.parts(layout, events, dice);
      assertEquals(events.size(), layout.rows(parts));
      Object expected = layout.aggregate(0).result(whole);
      Object result = layout.aggregate(0).result(parts);
      if (spec.result() == DOUBLE && expected instanceof Double number) {
        assertEquals(number, (Double) result, 1e-12 + Math.abs(number) * 1e-12);
      } else {
        assertArrayEquals(bytes(expected, spec.result()), bytes(result, spec.result()), spec + " seed " + seed);
        assertArrayEquals(Rows.written(layout, whole), Rows.written(layout, parts), "what is stored is the same too");
      }
    }
  }

  private static byte[] bytes(Object value, DataType type) {
    return value instanceof Unfit unfit ? unfit.how().getBytes(java.nio.charset.StandardCharsets.UTF_8)
        : UnsafeProjection.create(new DataType[] {type}).apply(new GenericInternalRow(new Object[] {value})).copy().getBytes();
  }

  @ParameterizedTest
  @MethodSource("specs")
  void whatIsTakenBackNeverCame(AggregateSpec spec) {
    if (!spec.retracts()) {
      assertThrows(IllegalArgumentException.class, () -> retracting(spec).build(), "it says so beforehand");
      Layout layout = Layout.of(List.of(spec));
      Rows.Event event = Rows.random(new Random(1), 1).get(0);
      Slots slots = Rows.added(layout, List.of(event));
      assertThrows(UnsupportedOperationException.class, () -> layout.retract(slots, event.inputs(), event.position()));
      return;
    }
    Layout layout = Layout.of(List.of(retracting(spec)));
    assertTrue(layout.aggregate(0).retracts());
    for (int seed = 0; seed < 30; seed++) {
      Random dice = new Random(seed);
      List<Rows.Event> kept = Rows.random(dice, dice.nextInt(10));
      List<Rows.Event> gone = Rows.random(dice, 1 + dice.nextInt(10));
      Slots slots = Rows.added(layout, kept);
      gone.forEach(event -> layout.add(slots, event.inputs(), event.position()));
      Slots after = dice.nextBoolean() ? Rows.stored(layout, slots) : slots;
      Collections.shuffle(gone, dice);
      gone.forEach(event -> layout.retract(after, event.inputs(), event.position()));
      Slots never = Rows.added(layout, kept);
      assertArrayEquals(Rows.written(layout, never), Rows.written(layout, after), spec + " seed " + seed);
      assertEquals(layout.aggregate(0).result(never), layout.aggregate(0).result(after));
    }
  }

  /** Before the shuffle a part may hold more rows taken back than added, which are in another part. */
  @ParameterizedTest
  @MethodSource("specs")
  void whatIsTakenBackInAnotherPartNeverCame(AggregateSpec spec) {
    if (!spec.retracts()) {
      return;
    }
    Layout layout = Layout.of(List.of(retracting(spec)));
    for (int seed = 0; seed < 30; seed++) {
      Random dice = new Random(seed);
      List<Rows.Event> kept = Rows.random(dice, dice.nextInt(10));
      List<Rows.Event> gone = Rows.random(dice, 1 + dice.nextInt(10));
      List<Rows.Event> fresh = Rows.random(dice, dice.nextInt(10));
      Slots whole = Rows.added(layout, kept);
      gone.forEach(event -> layout.add(whole, event.inputs(), event.position()));
      Slots change = Rows.added(layout, fresh);
      gone.forEach(event -> layout.retract(change, event.inputs(), event.position()));
      layout.merge(whole, Rows.stored(layout, change));
      Slots never = Rows.added(layout, kept);
      fresh.forEach(event -> layout.add(never, event.inputs(), event.position()));
      assertArrayEquals(Rows.written(layout, never), Rows.written(layout, whole), spec + " seed " + seed);
    }
  }

  private static AggregateSpec retracting(AggregateSpec spec) {
    Map<String, String> options = Map.of(AggregateSpec.RETRACT, "true");
    return new AggregateSpec(spec.name(), spec.function(), spec.input(), spec.inputType(), spec.result(), options);
  }

  @ParameterizedTest
  @MethodSource("specs")
  void onlyWhatAddsUpExactlyOrKeepsAllValuesTakesBack(AggregateSpec spec) {
    boolean exact = List.of("count", "sum", "avg").contains(spec.function()) && spec.inputType() != DOUBLE;
    boolean kept = List.of("min", "max", "bool_and", "bool_or", "count_distinct").contains(spec.function());
    assertEquals(exact || kept, spec.retracts());
    assertFalse(spec.build().codec().isBlank());
  }
}
