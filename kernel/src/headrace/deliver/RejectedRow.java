package headrace.deliver;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;

/**
 * A rejected row made to fit into a record. It carries the raw bytes of a message in base64, a third longer, so
 * a message that its topic took may be more than ours takes, and the pipeline would stop at it for good.
 */
final class RejectedRow {
  /** What Kafka adds to key and value, with room to spare. */
  private static final int OVERHEAD = 256;
  private static final int NOTE = 128;
  private static final String[] RAW = {"value", "key"};
  private static final ObjectMapper JSON = new ObjectMapper()
      .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
      .enable(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN)
      .setNodeFactory(JsonNodeFactory.withExactBigDecimals(true));

  private RejectedRow() {}

  /** The row's JSON as it is, or with its raw bytes cut so that it weighs no more than {@code most}. */
  static byte[] fitting(byte[] key, byte[] json, int most) {
    byte[] row = json;
    for (int i = 0; i < RAW.length && over(key, row, most) > 0; i++) {
      row = cut(row, RAW[i], over(key, row, most) + NOTE);
    }
    // What is still too large is refused by Kafka, and that names the outlet.
    return row;
  }

  private static long over(byte[] key, byte[] value, int most) {
    return (key == null ? 0L : key.length) + (value == null ? 0L : value.length) + OVERHEAD - most;
  }

  private static byte[] cut(byte[] json, String field, long characters) {
    try {
      JsonNode text = JSON.readTree(json).path(field);
      if (!text.isTextual()) {
        return json;
      }
      ObjectNode row = (ObjectNode) JSON.readTree(json);
      String whole = text.asText();
      // Base64 can be cut after every fourth character and still be read.
      int kept = (int) Math.max(0, whole.length() - characters) / 4 * 4;
      row.put(field, whole.substring(0, kept));
      row.put("reason", row.path("reason").asText("") + " (too large to be delivered whole: of this " + field + " "
          + kept + " of " + whole.length() + " characters are left)");
      return JSON.writeValueAsBytes(row);
    } catch (IOException notJson) {
      return json;
    }
  }
}
