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
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The transcripts of {@code tests/patterns} on the machine alone, in one go and with a new machine for every epoch. */
class PatternTranscriptsTest {
  private static final String PROPERTY = "headrace.pattern-transcripts";
  private static final String USUAL_KEY = "k";
  private static final int OUT = 1;
  private static final int LATE = 2;
  private static final int TIMED_OUT = 3;
  private static final int KEY = 3;
  private static final int TIME = 4;
  private static final int CONDITIONS = 5;
  private static final int BY = 6;
  private static final int ID = 7;
  private static final int EVENT_FIELDS = 2;

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
        .add("inputs", program.inputs()).add("row", program.row()));
    MemoryCells cells = new MemoryCells();
    Step step = Steps.of(program);
    for (int number = 0; number < told.get("epochs").size(); number++) {
      JsonNode expected = told.get("epochs").get(number);
      step = restarts ? Steps.of(program) : step;
      long watermark = expected.get("watermark").longValue();
      Epoch epoch = new Epoch(0, cells, expected.get("judged").longValue(), Context.NO_WATERMARK);
      for (JsonNode row : expected.get("rows")) {
        epoch.add(0, row.get(0).intValue(), row.get(1).intValue(), row.get(2).longValue(), row.get(TIME).longValue(),
            exit(exits, row, program));
      }
      if (expected.get("ticks").booleanValue()) {
        epoch.tick(watermark, 0);
      }
      List<Output> outputs = new ArrayList<>();
      epoch.run(step).forEachRemaining(outputs::add);
      String where = "epoch " + number + (restarts ? ", restarted" : "");
      assertEquals(lines(expected, "matches"), found(outputs, OUT, program), where);
      assertEquals(lines(expected, "timed_out"), found(outputs, TIMED_OUT, program), where + ", timed out");
      assertEquals(lines(expected, "late"), late(outputs), where + ", late");
      assertEquals(expected.get("used").longValue(), epoch.ledger().used, where + ", used");
      if (watermark == Long.MAX_VALUE) {
        assertEquals("no header, 0 cells", cells.toString(), where);
      }
    }
  }

  private static byte[] exit(UnsafeProjection exits, JsonNode told, Program program) {
    List<Object> row = new ArrayList<>(List.of(told.get(CONDITIONS).longValue()));
    if (program.matching().directions().length > 0) {
      row.add(told.get(BY).isNull() ? null : told.get(BY).longValue());
    }
    row.add(UTF8String.fromString(told.get(ID).textValue()));
    return exits.apply(struct(told.get(TIME).longValue(), struct(UTF8String.fromString(told.get(KEY).textValue())), struct(),
        struct(row.toArray()))).copy().getBytes();
  }

  private static GenericInternalRow struct(Object... values) {
    return new GenericInternalRow(values);
  }

  private static List<String> lines(JsonNode epoch, String port) {
    List<String> lines = new ArrayList<>();
    epoch.get("expected").get(port).forEach(line -> lines.add(line.textValue()));
    return lines.stream().sorted().toList();
  }

  private static List<String> found(List<Output> outputs, int port, Program program) {
    int first = program.key().size() + 2;
    return outputs.stream().filter(output -> output.port() == port).map(output -> {
      UnsafeRow row = Events.row(output, program.output().size());
      List<String> steps = new ArrayList<>();
      for (int step = first; step < program.output().size(); step++) {
        UnsafeArrayData events = row.getArray(step);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < events.numElements(); i++) {
          ids.add(events.getStruct(i, EVENT_FIELDS).getUTF8String(1).toString());
          assertEquals(row.getUTF8String(0), events.getStruct(i, EVENT_FIELDS).getUTF8String(0));
        }
        steps.add(ids.isEmpty() ? "-" : String.join(" ", ids));
      }
      return keyed(row.getUTF8String(0).toString(), String.join(" | ", steps));
    }).sorted().toList();
  }

  private static List<String> late(List<Output> outputs) {
    return outputs.stream().filter(output -> output.port() == LATE).map(output -> {
      UnsafeRow row = Events.row(output, EVENT_FIELDS + 1);
      double by = row.getDouble(EVENT_FIELDS);
      String told = by == Math.rint(by) ? String.valueOf((long) by) : String.valueOf(by);
      return keyed(row.getUTF8String(0).toString(), row.getUTF8String(1) + " by " + told);
    }).sorted().toList();
  }

  private static String keyed(String key, String told) {
    return key.equals(USUAL_KEY) ? told : key + ": " + told;
  }
}
