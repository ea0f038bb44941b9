package headrace.operator;

import static headrace.operator.LayerSpec.wanted;

import com.fasterxml.jackson.databind.JsonNode;
import headrace.pattern.PatternSpec;
import headrace.pattern.PatternSpec.Contiguity;
import headrace.pattern.PatternSpec.Element;
import headrace.pattern.PatternSpec.Group;
import headrace.pattern.PatternSpec.Limit;
import headrace.pattern.PatternSpec.Not;
import headrace.pattern.PatternSpec.Quantifier;
import headrace.pattern.PatternSpec.Skip;
import headrace.pattern.PatternSpec.Taking;
import headrace.step.EarlierConditions;
import headrace.step.Matching;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A pattern as the plan wrote it down in JSON. */
final class PatternReader {
  private PatternReader() {}

  /** How a program looks for a pattern, null where it does not. */
  static Matching matching(JsonNode program) {
    JsonNode node = program.path("matching");
    if (!node.isObject()) {
      return null;
    }
    List<String> directions = new ArrayList<>();
    wanted(node, "directions").forEach(each -> directions.add(each.textValue()));
    return new Matching(pattern(wanted(node, "pattern")), directions.toArray(new String[0]), LayerSpec.integers(wanted(node, "elements")),
        wanted(node, "slice").longValue(), earlier(node.path("earlier")), node.path("shown").textValue(), node.path("topic").textValue(),
        node.path("fails").asBoolean(), LayerSpec.integer(program, "timedOutPort"));
  }

  private static PatternSpec pattern(JsonNode node) {
    List<String> steps = new ArrayList<>();
    wanted(node, "steps").forEach(each -> steps.add(each.textValue()));
    JsonNode skip = wanted(node, "skip");
    Skip.Kind kind = Skip.Kind.valueOf(name(skip, "kind"));
    return new PatternSpec(steps, elements(wanted(node, "elements")), node.path("within").asLong(PatternSpec.ANY_LENGTH),
        new Skip(kind, skip.path("step").asInt(-1)), limit(wanted(node, "limit")), bits(node.path("earlier")));
  }

  private static Limit limit(JsonNode node) {
    return new Limit(wanted(node, "most").intValue(), Limit.WhenFull.valueOf(name(node, "then")));
  }

  private static long bits(JsonNode numbers) {
    long bits = 0;
    for (JsonNode number : numbers) {
      bits |= 1L << number.intValue();
    }
    return bits;
  }

  private static List<EarlierConditions.Condition> earlier(JsonNode nodes) {
    List<EarlierConditions.Condition> earlier = new ArrayList<>();
    for (JsonNode node : nodes) {
      earlier.add(new EarlierConditions.Condition(wanted(node, "bit").intValue(), wanted(node, "evaluated").textValue(),
          LayerSpec.integers(wanted(node, "steps"))));
    }
    return earlier;
  }

  private static List<Element> elements(JsonNode nodes) {
    List<Element> elements = new ArrayList<>();
    nodes.forEach(each -> elements.add(element(each)));
    return elements;
  }

  private static Element element(JsonNode node) {
    long within = node.path("within").asLong(PatternSpec.ANY_LENGTH);
    if (node.has("not")) {
      return new Not(wanted(node, "not").textValue().equals("next"), condition(node, "condition"), within);
    }
    Contiguity contiguity = Contiguity.valueOf(name(node, "contiguity"));
    Quantifier times = new Quantifier(wanted(node, "from").intValue(), node.path("to").asInt(PatternSpec.UNBOUNDED),
        node.path("optional").asBoolean(), node.path("greedy").asBoolean(), Contiguity.valueOf(name(node, "inner")),
        condition(node, "until"));
    if (node.has("elements")) {
      return new Group(elements(node.get("elements")), contiguity, times);
    }
    return new Taking(wanted(node, "step").intValue(), contiguity, condition(node, "condition"), times, within);
  }

  private static int condition(JsonNode node, String name) {
    return node.path(name).asInt(PatternSpec.ALWAYS);
  }

  private static String name(JsonNode node, String field) {
    return wanted(node, field).textValue().toUpperCase(Locale.ROOT);
  }
}
