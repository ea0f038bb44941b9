package headrace.deliver;

/** Deliveries of a pipeline with an exactly-once outlet, a counted one and an at-least-once one. */
final class Specs {
  static final String SECRET = "do-not-show-me";

  private Specs() {}

  static DeliverySpec epoch(String checkpoint, long epoch) {
    return DeliverySpec.parse(json(checkpoint, epoch));
  }

  static String json(String checkpoint, long epoch) {
    return """
        {"pipeline": "fraud", "checkpoint": "%s", "epoch": %d, "partitions": 2,
         "markerTopic": "headrace.fraud.epochs", "transactionTimeoutMs": 1000,
         "outlets": [
           {"ordinal": 0, "name": "alerts", "kind": "kafka", "topic": "alerts", "guarantee": "exactly-once"},
           {"ordinal": 1, "name": "velocity.late", "kind": "dropped"},
           {"ordinal": 2, "name": "board", "kind": "kafka", "topic": "board", "guarantee": "at-least-once"}],
         "clients": {"bootstrap.servers": "nowhere:1", "sasl.jaas.config": "%s"}}"""
        .formatted(checkpoint, epoch, SECRET);
  }
}
