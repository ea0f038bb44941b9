package headrace.operator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import headrace.aggregate.AggregateSpec;
import headrace.step.Interval;
import headrace.step.Lookup;
import headrace.step.Program;
import headrace.step.Side;
import headrace.step.TableSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** A layer as the plan wrote it down in JSON: its programs, and where each exit of a source row leads. */
public record LayerSpec(int partitions, List<Program> programs, int[] passGroups, List<Exit> exits) {

  /**
   * A nullable struct of the packed row: to a program, or past all of them to a port, or a tick.
   *
   * @param side which of the program's inputs it leads to
   * @param rejects the program whose input this row failed to become, null for all other rows
   */
  public record Exit(int ordinal, Integer program, int side, Integer port, boolean ticks, Integer rejects) {}

  private static final int KEPT = 16;
  // Every task of every epoch asks; Spark's reader of types is far slower than all else a small epoch does.
  private static final Map<String, LayerSpec> PARSED =
      Collections.synchronizedMap(
          new LinkedHashMap<>(KEPT, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, LayerSpec> eldest) {
              return size() > KEPT;
            }
          });

  public static LayerSpec parse(String json) {
    LayerSpec known = PARSED.get(json);
    if (known == null) {
      known = read(json);
      PARSED.put(json, known);
    }
    return known;
  }

  private static LayerSpec read(String json) {
    try {
      return of(new ObjectMapper().readTree(json));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("the layer is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  public Program program(int id) {
    for (Program program : programs) {
      if (program.id() == id) {
        return program;
      }
    }
    throw new IllegalStateException("this layer has no program " + id + ", yet rows or state of it came");
  }

  private static LayerSpec of(JsonNode layer) {
    List<Program> programs = new ArrayList<>();
    for (JsonNode node : layer.path("programs")) {
      programs.add(program(node));
    }
    List<Exit> exits = new ArrayList<>();
    for (JsonNode node : layer.path("exits")) {
      Exit exit = new Exit(wanted(node, "ordinal").intValue(), integer(node, "program"), node.path("side").asInt(), integer(node, "port"),
          node.path("ticks").asBoolean(), integer(node, "rejects"));
      if (!exit.ticks() && (exit.program() == null) == (exit.port() == null)) {
        throw new IllegalArgumentException("the exit " + exit.ordinal() + " leads to a program or to a port, not both and not neither");
      }
      exits.add(exit);
    }
    int[] passGroups = integers(layer.path("passGroups"));
    if (passGroups.length == 0 && exits.stream().anyMatch(exit -> exit.port() != null)) {
      throw new IllegalArgumentException("rows pass through this layer, but it has no passGroups");
    }
    return new LayerSpec(layer.path("partitions").asInt(), programs, passGroups, exits);
  }

  private static Program program(JsonNode node) {
    StructType inputs = struct(node, "inputs");
    List<AggregateSpec> aggregates = new ArrayList<>();
    for (JsonNode aggregate : wanted(node, "aggregates")) {
      aggregates.add(aggregate(aggregate, inputs));
    }
    int id = wanted(node, "id").intValue();
    if (id <= Inputs.PASS) {
      throw new IllegalArgumentException("a program's id is at least 1, not " + id);
    }
    List<Side> sides = new ArrayList<>();
    for (JsonNode side : wanted(node, "sides")) {
      sides.add(side(side));
    }
    return new Program(id, wanted(node, "name").textValue(), integers(wanted(node, "groups")), WindowSpec.window(node.path("window")),
        WindowSpec.trigger(node.path("trigger")), node.path("lateness").asLong(), WindowSpec.accumulation(node.path("accumulate")),
        node.path("within").asLong(Program.FOREVER), node.path("slice").asLong(), interval(node), lookup(node), node.path("chained").asBoolean(), struct(node, "key"), inputs, sides, aggregates,
        wanted(node, "port").intValue(), integer(node, "duplicatePort"), integer(node, "rejectedPort"), struct(node, "output"),
        table(node.path("table")), PatternReader.matching(node));
  }

  private static Interval interval(JsonNode node) {
    JsonNode told = node.path("interval");
    if (!told.isObject()) {
      return null;
    }
    Interval.How how = Interval.How.valueOf(wanted(told, "how").textValue().toUpperCase(Locale.ROOT));
    return new Interval(wanted(told, "lower").longValue(), wanted(told, "upper").longValue(), how, wanted(told, "slice").longValue(),
        integers(wanted(node, "columns")));
  }

  private static Lookup lookup(JsonNode node) {
    JsonNode told = node.path("lookup");
    return !told.isObject() ? null
        : new Lookup(wanted(told, "current").booleanValue(), wanted(told, "left").booleanValue(), wanted(told, "slice").longValue(),
            integers(wanted(node, "columns")));
  }

  private static Side side(JsonNode node) {
    Integer latePort = integer(node, "latePort");
    int[] full = node.path("full").isArray() ? integers(node.path("full")) : null;
    return new Side(struct(node, "row"), latePort, latePort == null ? null : struct(node, "late"), full);
  }

  private static TableSpec table(JsonNode node) {
    if (node.isMissingNode() || node.isNull()) {
      return null;
    }
    TableSpec.Folding folding = !node.hasNonNull("step") ? null
        : new TableSpec.Folding(wanted(node, "initial").textValue(), wanted(node, "step").textValue(), wanted(node, "shown").textValue(),
            wanted(node, "topic").textValue(), node.path("fails").asBoolean());
    return new TableSpec(TableSpec.Kind.valueOf(wanted(node, "kind").textValue().toUpperCase(Locale.ROOT)),
        node.path("by_offset").asBoolean(), folding, joining(node.path("joining")));
  }

  private static TableSpec.Joining joining(JsonNode node) {
    return !node.isObject() ? null
        : new TableSpec.Joining(node.path("left").asBoolean(), node.path("right").asBoolean(), integers(wanted(node, "columns")),
            integers(wanted(node, "primary")));
  }

  private static AggregateSpec aggregate(JsonNode node, StructType inputs) {
    Integer input = integer(node, "input");
    if (input != null && (input < 0 || input >= inputs.size())) {
      throw new IllegalArgumentException("the aggregate " + node.path("name") + " reads input " + input + " of " + inputs.size());
    }
    Map<String, String> options = new HashMap<>();
    for (Map.Entry<String, JsonNode> option : node.path("options").properties()) {
      options.put(option.getKey(), option.getValue().asText());
    }
    return new AggregateSpec(wanted(node, "name").textValue(), wanted(node, "function").textValue(), input == null ? -1 : input,
        input == null ? null : inputs.fields()[input].dataType(), type(wanted(node, "type")), options);
  }

  private static StructType struct(JsonNode node, String name) {
    return (StructType) type(wanted(node, name));
  }

  /** Spark's JSON of a type, as a part of this JSON or as text in it. */
  private static DataType type(JsonNode node) {
    boolean text = node.isTextual() && (node.textValue().startsWith("{") || node.textValue().startsWith("\""));
    return DataType.fromJson(text ? node.textValue() : node.toString());
  }

  static Integer integer(JsonNode node, String name) {
    JsonNode value = node.path(name);
    return value.isMissingNode() || value.isNull() ? null : value.intValue();
  }

  static int[] integers(JsonNode array) {
    int[] values = new int[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = array.get(i).intValue();
    }
    return values;
  }

  static JsonNode wanted(JsonNode node, String name) {
    JsonNode value = node.path(name);
    if (value.isMissingNode() || value.isNull()) {
      throw new IllegalArgumentException("the layer's JSON lacks '" + name + "' in " + node);
    }
    return value;
  }
}
