package headrace.step;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import headrace.state.MemoryCells;
import headrace.step.Transcript.Sent;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/** The transcripts of {@code tests/transcripts} on the machines alone; {@code tests/kernel/test_java_suite.py} writes them down. */
class TranscriptsTest {
  private static final String PROPERTY = "headrace.transcripts";
  private static final String GIVEN = "given";
  private static final String LATE = "late";
  private static final String DUPLICATES = "duplicates";
  private static final String LEDGER = "ledger";

  @TestFactory
  Stream<DynamicTest> everyTranscriptGivesWhatIsWritten() throws IOException {
    String path = System.getProperty(PROPERTY);
    assertNotNull(path, "the property " + PROPERTY + " names no file of transcripts: run tests/kernel/test_java_suite.py");
    List<JsonNode> cases = new ArrayList<>();
    new ObjectMapper().readTree(new File(path)).forEach(cases::add);
    assertFalse(cases.isEmpty(), "there are no transcripts in " + path);
    return cases.stream().map(told -> DynamicTest.dynamicTest(told.get("title").textValue(), () -> runsEveryWay(new Transcript(told))));
  }

  private static void runsEveryWay(Transcript transcript) {
    List<Executable> ways = new ArrayList<>();
    for (Sent sent : transcript.program.combines() ? Sent.values() : new Sent[] {Sent.IN_FULL}) {
      ways.add(() -> run(transcript, sent, false));
      ways.add(() -> run(transcript, sent, true));
    }
    assertAll(transcript.title, ways);
  }

  /** {@code restarts}: every epoch has a machine that remembers nothing but the cells. */
  private static void run(Transcript transcript, Sent sent, boolean restarts) {
    List<String> mismatches = new ArrayList<>();
    MemoryCells cells = new MemoryCells();
    Step step = Steps.of(transcript.program);
    long ticked = Context.NO_WATERMARK;
    for (int number = 0; number < transcript.epochs.size(); number++) {
      JsonNode told = transcript.epochs.get(number);
      step = restarts ? Steps.of(transcript.program) : step;
      Epoch epoch = new Epoch(0, cells, told.get("watermark").longValue(), ticked);
      transcript.feed(told, sent, epoch);
      ticked = transcript.ticked(told, ticked);
      List<Output> outputs = new ArrayList<>();
      epoch.run(step).forEachRemaining(outputs::add);
      String where = "sent " + sent + (restarts ? ", restarted" : "") + ", epoch " + number;
      Map<String, List<String>> expected = expected(told);
      came(transcript.program, outputs, epoch.ledger()).forEach((port, lines) -> {
        if (!lines.equals(expected.get(port))) {
          mismatches.add(where + ", " + port + ": expected " + expected.get(port) + ", but came " + lines);
        }
      });
      takenBackTooLate(transcript.program, outputs).forEach(pane -> mismatches.add(where + ": taken back after its successor: " + pane));
    }
    assertTrue(mismatches.isEmpty(), () -> String.join("\n", mismatches));
    if (transcript.program.stands()) {
      // A ranking without windows stands: what ends time takes nothing back.
      return;
    }
    if (transcript.watermark() < Context.END) {
      Epoch end = new Epoch(0, cells, Context.END, ticked);
      end.tick(Context.END, 0);
      end.run(step).forEachRemaining(output -> { });
    }
    assertTrue(cells.isEmpty(), "nothing is kept when time is over, sent " + sent + ": " + cells);
  }

  private static Map<String, List<String>> expected(JsonNode told) {
    Map<String, List<String>> lines = new TreeMap<>();
    for (String port : List.of(GIVEN, LATE, DUPLICATES)) {
      List<String> all = new ArrayList<>();
      told.get(port).forEach(row -> all.add(text(row)));
      lines.put(port, all.stream().sorted().toList());
    }
    lines.put(LEDGER, List.of(ledger(told.get("used").longValue(), told.get(LATE).size(), told.get(DUPLICATES).size())));
    return lines;
  }

  private static Map<String, List<String>> came(Program program, List<Output> outputs, Ledger ledger) {
    Map<String, List<String>> lines = new TreeMap<>();
    lines.put(GIVEN, lines(outputs, program.port(), program.output()));
    Side only = program.sides().get(0);
    lines.put(LATE, only.latePort() == null ? List.of() : lines(outputs, only.latePort(), only.late()));
    lines.put(DUPLICATES, program.duplicatePort() == null ? List.of() : lines(outputs, program.duplicatePort(), program.row()));
    lines.put(LEDGER, List.of(ledger(ledger.used, ledger.late, ledger.duplicate)));
    int known = lines.get(GIVEN).size() + lines.get(LATE).size() + lines.get(DUPLICATES).size();
    assertEquals(outputs.size(), known, "outputs of the ports that the program has");
    return lines;
  }

  private static String ledger(long used, long late, long duplicates) {
    return used + " used, " + late + " late, " + duplicates + " duplicates";
  }

  private static List<String> lines(List<Output> outputs, int port, StructType type) {
    return outputs.stream().filter(output -> output.port() == port).map(output -> text(columns(output, type))).sorted().toList();
  }

  private static List<Object> columns(Output output, StructType type) {
    List<Object> columns = new ArrayList<>();
    flatten(Events.row(output, type.size()), type, columns);
    return columns;
  }

  private static void flatten(InternalRow row, StructType type, List<Object> columns) {
    for (int i = 0; i < type.size(); i++) {
      if (type.fields()[i].dataType() instanceof StructType inner) {
        flatten(row.getStruct(i, inner.size()), inner, columns);
      } else {
        columns.add(row.isNullAt(i) ? null : row.get(i, type.fields()[i].dataType()));
      }
    }
  }

  private static String text(JsonNode row) {
    List<Object> columns = new ArrayList<>();
    row.forEach(each -> columns.add(each.isDouble() ? (Object) each.doubleValue() : each.isNull() ? null : each.asText()));
    return text(columns);
  }

  private static String text(List<Object> columns) {
    return columns.stream().map(TranscriptsTest::column).toList().toString();
  }

  /** Seconds to twelve digits, as the other drivers compare them. */
  private static String column(Object value) {
    return value instanceof Double seconds ? String.format(Locale.ROOT, "%.11e", seconds) : String.valueOf(value);
  }

  /** The panes that were taken back after another one of their key and window had been given. */
  private static List<String> takenBackTooLate(Program program, List<Output> outputs) {
    List<String> wrong = new ArrayList<>();
    int change = program.output().getFieldIndex("change").isDefined() ? program.output().size() - 1 : -1;
    int about = program.output().getFieldIndex("window").isDefined() ? program.output().fieldIndex("window") + 2 : program.key().size();
    Set<List<Object>> given = new HashSet<>();
    for (Output output : outputs) {
      if (change < 0 || output.port() != program.port()) {
        continue;
      }
      List<Object> columns = columns(output, program.output());
      List<Object> window = columns.subList(0, about);
      if (Events.row(output, program.output().size()).getInt(change) > 0) {
        given.add(window);
      } else if (given.contains(window)) {
        wrong.add(text(columns));
      }
    }
    return wrong;
  }
}
