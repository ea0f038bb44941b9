package headrace.clock;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import headrace.clock.policy.Adaptive;
import headrace.clock.policy.Bounded;
import headrace.clock.policy.ByHand;
import headrace.clock.policy.Policy;
import headrace.clock.policy.ProcessingTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What a clock is made of, as the plan says it in JSON: sources with their policies, programs with their groups. */
record ClockSpec(String checkpoint, boolean drain, long align, List<Source> sources, List<Program> programs) {
  static final ObjectMapper JSON = new ObjectMapper();

  /** A source and how its watermark is found; that of a {@code table} holds nothing up once it is read to its end. */
  record Source(String name, int index, Policy policy, boolean table) {}

  /**
   * A program: the layer it is in, the sources upstream of it, the groups that its ticks go to, and the intervals of the wall clock, in
   * microseconds, that it wants a tick at whatever the watermark does; {@code first} are the tables that are to be read to their ends
   * before any other of its sources is read.
   */
  record Program(int id, int layer, List<String> sources, int[] groups, List<Long> moments, List<String> first) {}

  /** The tables that are to be read before a source; none for one that is such a table itself. */
  Set<String> before(String source) {
    Set<String> before = new TreeSet<>();
    for (Program program : programs) {
      if (program.first().contains(source)) {
        return Set.of();
      }
      if (program.sources().contains(source)) {
        before.addAll(program.first());
      }
    }
    return before;
  }

  /** The sources that a source has a program in common with, itself among them if it has any. */
  Set<String> together(String source) {
    Set<String> together = new TreeSet<>();
    programs.stream().map(Program::sources).filter(sources -> sources.contains(source)).forEach(together::addAll);
    return together;
  }

  static ClockSpec parse(String json) {
    JsonNode root;
    try {
      root = JSON.readTree(json);
    } catch (JsonProcessingException broken) {
      throw new IllegalArgumentException("The clock's description is not JSON: " + broken.getMessage(), broken);
    }
    boolean byHand = root.path("manual").asBoolean(false);
    List<Source> sources = new ArrayList<>();
    for (JsonNode source : root.path("sources")) {
      sources.add(
          new Source(
              need(source, "name").asText(),
              need(source, "index").asInt(),
              byHand ? new ByHand() : policy(need(source, "policy")),
              source.path("table").asBoolean(false)));
    }
    List<Program> programs = new ArrayList<>();
    for (JsonNode program : root.path("programs")) {
      List<String> upstream = new ArrayList<>();
      need(program, "sources").forEach(name -> upstream.add(name.asText()));
      for (String name : upstream) {
        if (sources.stream().noneMatch(source -> source.name().equals(name))) {
          throw new IllegalArgumentException("The clock has no source named " + name + ", a program reads it.");
        }
      }
      JsonNode numbers = need(program, "groups");
      int[] groups = new int[numbers.size()];
      for (int i = 0; i < groups.length; i++) {
        groups[i] = numbers.get(i).asInt();
      }
      List<Long> moments = new ArrayList<>();
      program.path("moments").forEach(moment -> moments.add(moment.asLong()));
      List<String> first = new ArrayList<>();
      program.path("first").forEach(name -> first.add(name.asText()));
      programs.add(new Program(need(program, "id").asInt(), program.path("layer").asInt(), List.copyOf(upstream), groups, List.copyOf(moments),
          List.copyOf(first)));
    }
    return new ClockSpec(
        need(root, "checkpoint").asText(),
        root.path("drain").asBoolean(false),
        root.path("align").asLong(0),
        List.copyOf(sources),
        List.copyOf(programs));
  }

  private static Policy policy(JsonNode policy) {
    String kind = need(policy, "kind").asText();
    return switch (kind) {
      case "bounded" -> new Bounded(need(policy, "lag").asLong(), idle(policy));
      case "adaptive" -> new Adaptive(
          need(policy, "completeness").asDouble(), need(policy, "at_most").asLong(), idle(policy));
      // Of a punctuated source only the markers are observed.
      case "perfect", "punctuated" -> new Bounded(0, idle(policy));
      case "processing-time" -> new ProcessingTime(need(policy, "lag").asLong(), need(policy, "every").asLong());
      case "manual" -> new ByHand();
      default -> throw new IllegalArgumentException(
          "There is no watermark policy \"" + kind + "\"; there are \"bounded\", \"adaptive\", \"perfect\", "
              + "\"punctuated\", \"processing-time\" and \"manual\".");
    };
  }

  /** In milliseconds; without one no partition is ever idle. */
  private static long idle(JsonNode policy) {
    return policy.path("idle").isNumber() ? policy.path("idle").asLong() : -1;
  }

  private static JsonNode need(JsonNode node, String field) {
    JsonNode value = node.get(field);
    if (value == null || value.isNull()) {
      throw new IllegalArgumentException("The clock's description misses \"" + field + "\": " + node);
    }
    return value;
  }
}
