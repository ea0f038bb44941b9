package headrace.deliver;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;

/**
 * One place that rows are delivered to: a topic, or nowhere but a count.
 *
 * @param rejected whether its rows are those that could not be used, raw bytes in them
 */
public record Outlet(int ordinal, String name, Kind kind, String topic, boolean rejected) implements Serializable {

  /** How an outlet's rows leave. */
  public enum Kind {
    /** In the task's transaction, together with the epoch's marker. */
    EXACTLY_ONCE,
    /** Acknowledged before the epoch ends; a replayed epoch sends them again. */
    AT_LEAST_ONCE,
    /** Handed to the driver, which commits it to the pipeline's views. */
    VIEW,
    /** Counted only. */
    DROPPED,
    /** Lines of the ledger of events: added up per step. */
    LEDGER;

    /** Whether rows of this kind are sent anywhere. */
    boolean sends() {
      return this == EXACTLY_ONCE || this == AT_LEAST_ONCE;
    }
  }

  static Outlet parse(JsonNode json) {
    int ordinal = json.path("ordinal").asInt(-1);
    String name = json.path("name").asText("");
    String kind = json.path("kind").asText("");
    if (kind.equals("dropped")) {
      return new Outlet(ordinal, name, Kind.DROPPED, null, false);
    }
    if (kind.equals("ledger")) {
      return new Outlet(ordinal, name, Kind.LEDGER, null, false);
    }
    if (kind.equals("view")) {
      return new Outlet(ordinal, name, Kind.VIEW, null, false);
    }
    if (!kind.equals("kafka")) {
      throw new IllegalArgumentException("outlet " + name + " is of kind '" + kind + "'; known are kafka, view, dropped, ledger");
    }
    String topic = json.path("topic").asText("");
    if (topic.isEmpty()) {
      throw new IllegalArgumentException("outlet " + name + " names no topic");
    }
    boolean rejected = json.path("rejected").asBoolean(false);
    String guarantee = json.path("guarantee").asText("exactly-once");
    return switch (guarantee) {
      case "exactly-once" -> new Outlet(ordinal, name, Kind.EXACTLY_ONCE, topic, rejected);
      case "at-least-once" -> new Outlet(ordinal, name, Kind.AT_LEAST_ONCE, topic, rejected);
      default -> throw new IllegalArgumentException("outlet " + name + " asks for '" + guarantee
          + "'; Kafka gives exactly-once or at-least-once");
    };
  }

  /** How a message names it. */
  String label() {
    return "outlet " + name + " (topic " + topic + ")";
  }
}
