package headrace.view;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The views of a pipeline, and the store that they are in.
 *
 * @param place the file of the store, or the address of its database, as people are told
 * @param connection how to connect to the database, secrets included; nothing for a file
 * @param checkpoint the history that writes to it
 */
public record ViewSpec(String place, Map<String, String> connection, String pipeline, String checkpoint, List<View> views) implements Serializable {

  /** Reads the part of a delivery's JSON that is about views; null when there is none. */
  public static ViewSpec parse(JsonNode delivery) {
    JsonNode json = delivery.path("views");
    if (json.isMissingNode() || json.isNull()) {
      return null;
    }
    Map<String, String> connection = new LinkedHashMap<>();
    json.path("connection").properties().forEach(option -> connection.put(option.getKey(), option.getValue().asText()));
    List<View> views = new ArrayList<>();
    json.path("views").forEach(view -> views.add(View.parse(view)));
    return new ViewSpec(json.path("place").asText(), connection, delivery.path("pipeline").asText(), delivery.path("checkpoint").asText(), views);
  }

  @Override
  public String toString() {
    return "views of " + pipeline + " in " + place;
  }
}
