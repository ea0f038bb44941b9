package headrace.source;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import headrace.clock.policy.Position;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** Reads the offsets of Spark's Kafka source: {@code {"topic":{"0":23,"1":42}}}. */
final class Offsets {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Offsets() {}

  /** Partition to offset; of one topic, as a source of ours reads one. */
  static Map<Integer, Long> of(Offset offset) {
    return offset == null ? Map.of() : parse(offset.json());
  }

  static Map<Integer, Long> parse(String json) {
    Map<Integer, Long> offsets = new TreeMap<>();
    try {
      for (JsonNode topic : JSON.readTree(json)) {
        topic.properties().forEach(one -> offsets.put(Integer.valueOf(one.getKey()), one.getValue().asLong()));
      }
    } catch (JsonProcessingException broken) {
      throw new IllegalStateException("This is not an offset of a Kafka source: " + json, broken);
    }
    return offsets;
  }

  /** Where every partition of {@code end} is; one that {@code processed} does not know yet is read from its start. */
  static Map<Integer, Position> positions(Map<Integer, Long> processed, Map<Integer, Long> end) {
    Map<Integer, Position> positions = new TreeMap<>();
    end.forEach((partition, last) -> positions.put(partition, new Position(processed.getOrDefault(partition, 0L), last)));
    processed.forEach((partition, next) -> positions.putIfAbsent(partition, new Position(next, next)));
    return positions;
  }

  /** Rows between two offsets. */
  static long rows(Map<Integer, Long> from, Map<Integer, Long> to) {
    long rows = 0;
    for (Map.Entry<Integer, Long> one : to.entrySet()) {
      rows += Math.max(0, one.getValue() - from.getOrDefault(one.getKey(), 0L));
    }
    return rows;
  }
}
