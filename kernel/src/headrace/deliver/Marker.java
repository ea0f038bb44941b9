package headrace.deliver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The last epoch that a task has delivered, of the history that its checkpoint identifies. */
public record Marker(String checkpoint, long epoch) {
  /** The epoch of a history that has begun and delivered nothing yet. */
  public static final long BEFORE_ALL = -1;

  private static final ObjectMapper JSON = new ObjectMapper();

  byte[] bytes() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("checkpoint", checkpoint);
    fields.put("epoch", epoch);
    try {
      return JSON.writeValueAsBytes(fields);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  static Marker parse(byte[] bytes) {
    try {
      JsonNode json = JSON.readTree(bytes);
      if (json.hasNonNull("checkpoint") && json.hasNonNull("epoch")) {
        return new Marker(json.get("checkpoint").asText(), json.get("epoch").asLong());
      }
    } catch (IOException notJson) {
      // told below, together with JSON of another shape
    }
    throw new DeliveryException("the markers' topic holds a record that is no marker",
        "find out who else writes to it; it belongs to one pipeline");
  }
}
