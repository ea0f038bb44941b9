package headrace.operator;

import com.fasterxml.jackson.databind.JsonNode;
import headrace.trigger.Accumulation;
import headrace.trigger.Condition;
import headrace.trigger.Trigger;
import headrace.window.AlignedWindows;
import headrace.window.CalendarGrid;
import headrace.window.FixedGrid;
import headrace.window.GlobalWindow;
import headrace.window.Grid;
import headrace.window.SessionWindow;
import headrace.window.SlidingWindow;
import headrace.window.StatedWindows;
import headrace.window.Window;
import java.math.BigInteger;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A window and its trigger as the plan wrote them down in JSON. */
final class WindowSpec {
  private WindowSpec() {}

  static Window window(JsonNode node) {
    if (node.isMissingNode() || node.isNull()) {
      return null;
    }
    String kind = LayerSpec.wanted(node, "kind").textValue();
    return switch (kind) {
      case "tumbling" -> aligned(node, size(node, "size"), size(node, "size"), false);
      case "hopping" -> aligned(node, size(node, "size"), size(node, "every"), false);
      case "cumulative" -> aligned(node, size(node, "size"), size(node, "step"), true);
      case "session" -> new SessionWindow(size(node, "gap"));
      case "sliding" -> new SlidingWindow(size(node, "size"));
      case "global" -> new GlobalWindow();
      case "custom" -> new StatedWindows();
      default -> throw new IllegalArgumentException("this kernel has no '" + kind + "' windows");
    };
  }

  private static AlignedWindows aligned(JsonNode node, long size, long hop, boolean cumulative) {
    long slice = BigInteger.valueOf(size).gcd(BigInteger.valueOf(hop)).longValueExact();
    return new AlignedWindows(grid(node, slice), Math.toIntExact(size / slice), Math.toIntExact(hop / slice), cumulative);
  }

  private static Grid grid(JsonNode node, long slice) {
    long offset = node.path("offset").asLong();
    if (!node.hasNonNull("unit")) {
      return new FixedGrid(slice, offset);
    }
    CalendarGrid.Unit unit = CalendarGrid.Unit.valueOf(node.get("unit").textValue().toUpperCase(Locale.ROOT));
    return new CalendarGrid(unit, Math.toIntExact(slice), ZoneId.of(LayerSpec.wanted(node, "zone").textValue()), offset, node.path("weekly").asBoolean());
  }

  private static long size(JsonNode node, String name) {
    return LayerSpec.wanted(node, name).longValue();
  }

  static Trigger trigger(JsonNode node) {
    if (node.isMissingNode() || node.isNull()) {
      return Trigger.AT_WATERMARK;
    }
    int[] bits = {1};
    String kind = LayerSpec.wanted(node, "kind").textValue();
    return switch (kind) {
      case "at_watermark" -> new Trigger(Trigger.Kind.AT_WATERMARK, condition(node.path("early"), bits), condition(node.path("late"), bits));
      case "final" -> Trigger.FINAL;
      case "when" -> new Trigger(Trigger.Kind.WHEN, condition(LayerSpec.wanted(node, "due"), bits), null);
      default -> throw new IllegalArgumentException("this kernel has no '" + kind + "' trigger");
    };
  }

  private static Condition condition(JsonNode node, int[] bits) {
    if (node.isMissingNode() || node.isNull()) {
      return null;
    }
    if (node.has("count")) {
      return new Condition.AfterCount(node.get("count").longValue());
    }
    if (node.has("every")) {
      bits[0] <<= 1;
      return new Condition.Every(node.get("every").longValue(), bits[0]);
    }
    boolean all = node.has("all");
    List<Condition> parts = new ArrayList<>();
    for (JsonNode part : LayerSpec.wanted(node, all ? "all" : "any")) {
      parts.add(condition(part, bits));
    }
    return new Condition.Several(parts, all);
  }

  static Accumulation accumulation(JsonNode node) {
    return node.isTextual() ? Accumulation.valueOf(node.textValue().toUpperCase(Locale.ROOT)) : Accumulation.ACCUMULATING;
  }
}
