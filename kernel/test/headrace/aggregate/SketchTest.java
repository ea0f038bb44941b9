package headrace.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import org.apache.datasketches.hll.HllSketch;
import org.apache.datasketches.kll.KllDoublesSketch;
import org.apache.datasketches.memory.Memory;
import org.apache.datasketches.theta.Sketches;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

class SketchTest {
  private static final String HALF = "[{\"type\":\"double\",\"value\":0.5},{\"type\":\"integer\",\"value\":10000}]";
  private static final String LG = "[{\"type\":\"integer\",\"value\":12}]";

  private static Layout layout(String function, int input, DataType result, String constants) {
    return Layout.of(List.of(new AggregateSpec("a", function, input, Rows.TYPES[input], result, Map.of("constants", constants))));
  }

  private static List<Rows.Event> events(int count) {
    List<Rows.Event> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      events.add(Rows.event(i, i, i % 10 == 0 ? null : (long) i, (double) i));
    }
    return events;
  }

  private static void check(Layout layout, int count, Function<Object, Double> answer, double expected, double tolerance) {
    for (int seed = 0; seed < 5; seed++) {
      Random dice = new Random(seed);
      List<Rows.Event> events = events(count);
      assertEquals(expected, answer.apply(layout.aggregate(0).result(Rows.added(layout, events))), tolerance);
      Collections.shuffle(events, dice);
      Slots parts = Rows.parts(layout, events, dice);
      assertEquals(expected, answer.apply(layout.aggregate(0).result(parts)), tolerance);
      assertEquals(expected, answer.apply(layout.aggregate(0).result(Rows.stored(layout, parts))), tolerance, "asking does not change it");
    }
  }

  @Test
  void percentilesOfFewValuesAreExact() {
    check(layout("percentile_approx", Rows.LONG, DataTypes.LongType, HALF), 1000, value -> (double) (Long) value, 500, 1);
    check(layout("percentile_approx", Rows.DOUBLE, DataTypes.DoubleType, HALF), 1001, value -> (Double) value, 500, 0);
  }

  @Test
  void sketchesMerge() {
    check(layout("hll_sketch_agg", Rows.LONG, DataTypes.BinaryType, LG), 1000,
        value -> HllSketch.heapify((byte[]) value).getEstimate(), 900, 30);
    check(layout("theta_sketch_agg", Rows.LONG, DataTypes.BinaryType, LG), 1000,
        value -> Sketches.wrapCompactSketch(Memory.wrap((byte[]) value)).getEstimate(), 900, 0);
    check(layout("kll_sketch_agg_double", Rows.DOUBLE, DataTypes.BinaryType, "[]"), 1000,
        value -> (double) KllDoublesSketch.heapify(Memory.wrap((byte[]) value)).getN(), 1000, 0);
  }

  @Test
  void nothingIsWhatSparkSaysOfNothing() {
    Layout median = layout("percentile_approx", Rows.LONG, DataTypes.LongType, HALF);
    assertNull(median.aggregate(0).result(median.scratch()));
    assertNull(median.aggregate(0).result(Rows.stored(median, Rows.added(median, List.of(Rows.event(1, 1))))));
    Layout theta = layout("theta_sketch_agg", Rows.LONG, DataTypes.BinaryType, LG);
    Object empty = theta.aggregate(0).result(Rows.stored(theta, theta.scratch()));
    assertEquals(0, Sketches.wrapCompactSketch(Memory.wrap((byte[]) empty)).getEstimate());
  }

  @Test
  void whatIsNoSketchFailsItsOwnWindowAlone() {
    Layout union = layout("theta_union_agg", Rows.BYTES, DataTypes.BinaryType, LG);
    Rows.Event bad = Rows.event(1, 1, null, null, null, null, null, null, new byte[] {1, 2, 3});
    Slots slots = Rows.stored(union, Rows.added(union, List.of(bad)));
    Slots whole = union.scratch();
    union.merge(whole, slots);
    union.merge(whole, Rows.added(union, List.of(bad)));
    Unfit unfit = assertInstanceOf(Unfit.class, union.aggregate(0).result(whole));
    assertTrue(unfit.how().startsWith("failed: "), unfit.how());
  }

  @Test
  void whatHasNoBufferThatMergesIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> layout("kurtosis", Rows.DOUBLE, DataTypes.DoubleType, "[]"));
    assertThrows(Exception.class, () -> layout("no_such_function", Rows.DOUBLE, DataTypes.DoubleType, "[]"));
  }

  @Test
  void constantsOfEveryTypeAreReadAsTheyWere() {
    String json = "[{\"type\":\"boolean\",\"value\":true},{\"type\":\"string\",\"value\":\"sum\"},"
        + "{\"type\":\"decimal(3,2)\",\"value\":\"0.25\"},"
        + "{\"type\":{\"type\":\"array\",\"elementType\":\"double\",\"containsNull\":false},\"value\":[0.5,0.9]},"
        + "{\"type\":\"long\",\"value\":null},{\"type\":\"long\",\"value\":9007199254740993}]";
    var array = new com.fasterxml.jackson.databind.ObjectMapper().createArrayNode();
    Constants.read(json).forEach(literal -> Constants.write(literal.value(), literal.dataType(), array));
    assertEquals(json, array.toString());
  }
}
