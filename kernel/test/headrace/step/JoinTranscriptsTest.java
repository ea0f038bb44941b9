package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import headrace.operator.LayerSpec;
import headrace.state.MemoryCells;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The transcripts of {@code tests/transcripts/joins} and {@code tests/asof} on the machines alone, in one go and with a new machine for every epoch. What leaves
 * in an epoch is compared in its order.
 */
class JoinTranscriptsTest {
  private static final String PROPERTY = "headrace.join-transcripts";
  private static final int OUT = 1;
  private static final int SIDE = 0;
  private static final int KEY = 4;
  private static final int TIME = 5;
  private static final int VALUE = 6;
  private static final int DELETED = 7;

  @TestFactory
  Stream<DynamicTest> everyTranscriptGivesWhatIsWritten() throws IOException {
    String path = System.getProperty(PROPERTY);
    assertNotNull(path, "the property " + PROPERTY + " names no file of transcripts: run tests/kernel/test_java_suite.py");
    List<JsonNode> cases = new ArrayList<>();
    new ObjectMapper().readTree(new File(path)).forEach(cases::add);
    assertFalse(cases.isEmpty(), "there are no transcripts in " + path);
    return cases.stream().map(told -> DynamicTest.dynamicTest(told.get("title").textValue(), () -> {
      run(told, false);
      run(told, true);
    }));
  }

  private static void run(JsonNode told, boolean restarts) {
    Program program = LayerSpec.parse(told.get("layer").toString()).program(1);
    UnsafeProjection exits = UnsafeProjection.create(new StructType().add("time", DataTypes.TimestampType).add("key", program.key())
        .add("inputs", program.inputs()).add("row", program.sides().get(0).row()));
    MemoryCells cells = new MemoryCells();
    Step step = Steps.of(program);
    boolean over = false;
    for (int number = 0; number < told.get("epochs").size(); number++) {
      JsonNode expected = told.get("epochs").get(number);
      step = restarts ? Steps.of(program) : step;
      long watermark = expected.get("watermark").longValue();
      Epoch epoch = new Epoch(0, cells, expected.path("judged").asLong(watermark), Context.NO_WATERMARK);
      for (JsonNode row : expected.get("rows")) {
        epoch.add(row.get(SIDE).intValue(), row.get(1).intValue(), row.get(2).intValue(), row.get(3).longValue(), row.get(TIME).longValue(),
            exit(exits, row));
      }
      if (expected.get("ticks").booleanValue()) {
        epoch.tick(watermark, 0);
      }
      List<Output> outputs = new ArrayList<>();
      epoch.run(step).forEachRemaining(outputs::add);
      String where = "epoch " + number + (restarts ? ", restarted" : "");
      assertEquals(lines(expected.get("out")), lines(outputs, OUT, program.output()), where);
      for (int side = 0; side < 2; side++) {
        Side of = program.sides().get(side);
        if (of.latePort() == null) {
          continue;
        }
        String late = side == 0 ? "late_left" : "late_right";
        assertEquals(lines(expected.get(late)).stream().sorted().toList(), lines(outputs, of.latePort(), of.late()).stream().sorted().toList(),
            where + ", " + late);
      }
      assertEquals(expected.get("used").longValue(), epoch.ledger().used, where + ", used");
      // The rows that a table has now are there for ever.
      over = watermark == Long.MAX_VALUE && !expected.path("held").asBoolean();
    }
    assertEquals(0, over ? cells.size() : 0, "cells at the end of time");
  }

  private static byte[] exit(UnsafeProjection exits, JsonNode row) {
    Object key = row.get(KEY).isNull() ? null : UTF8String.fromString(row.get(KEY).textValue());
    long time = row.get(TIME).longValue();
    Object value = row.get(VALUE).isNull() ? null : (Long) row.get(VALUE).longValue();
    Object columns = row.path(DELETED).asBoolean() ? null : new GenericInternalRow(new Object[] {time, value});
    return exits.apply(new GenericInternalRow(new Object[] {time, new GenericInternalRow(new Object[] {key}),
        new GenericInternalRow(new Object[0]), columns})).copy().getBytes();
  }

  private static List<String> lines(JsonNode rows) {
    List<String> lines = new ArrayList<>();
    for (JsonNode row : rows) {
      List<String> columns = new ArrayList<>();
      row.forEach(each -> columns.add(each.isNull() ? "null" : each.isDouble() ? seconds(each.doubleValue()) : each.asText()));
      lines.add(columns.toString());
    }
    return lines;
  }

  private static List<String> lines(List<Output> outputs, int port, StructType type) {
    return outputs.stream().filter(output -> output.port() == port).map(output -> {
      UnsafeRow row = Events.row(output, type.size());
      List<String> columns = new ArrayList<>();
      for (int i = 0; i < type.size(); i++) {
        Object value = row.isNullAt(i) ? null : row.get(i, type.fields()[i].dataType());
        columns.add(value instanceof Double by ? seconds(by) : String.valueOf(value));
      }
      return columns.toString();
    }).toList();
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, "%.11e", value);
  }
}
