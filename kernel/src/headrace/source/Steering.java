package headrace.source;

import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The options of a steered Kafka source that are ours. */
record Steering(String query, String source, String topic, Pace pace, long freshMillis, boolean failOnDataLoss) {
  static Steering of(CaseInsensitiveStringMap options) {
    String topic = need(options, "subscribe");
    if (topic.contains(",")) {
      // A partition is known by its number alone, in every row and in the clock.
      throw new IllegalArgumentException("A source reads one topic, \"subscribe\" names several: " + topic + ".");
    }
    return new Steering(
        need(options, "query"),
        need(options, "source"),
        topic.trim(),
        options.containsKey("fixedRowsPerEpoch")
            ? Pace.fixed(options.getLong("fixedRowsPerEpoch", 0))
            : Pace.adaptive(
                options.getLong("maxRowsPerEpoch", 100_000), options.getLong("targetEpochMillis", 2_000)),
        options.getLong("freshMillis", 15),
        options.getBoolean("failOnDataLoss", true));
  }

  static String need(CaseInsensitiveStringMap options, String name) {
    String value = options.get(name);
    if (value == null) {
      throw new IllegalArgumentException("The source needs the option \"" + name + "\".");
    }
    return value;
  }
}
