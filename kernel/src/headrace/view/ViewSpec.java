package headrace.view;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * The views of a pipeline, and the store that they are in.
 *
 * @param place the file of the store
 * @param checkpoint the history that writes to it
 */
public record ViewSpec(String place, String pipeline, String checkpoint, List<View> views) implements Serializable {

  /** Reads the part of a delivery's JSON that is about views; null when there is none. */
  public static ViewSpec parse(JsonNode delivery) {
    JsonNode json = delivery.path("views");
    if (json.isMissingNode() || json.isNull()) {
      return null;
    }
    List<View> views = new ArrayList<>();
    json.path("views").forEach(view -> views.add(View.parse(view)));
    return new ViewSpec(json.path("place").asText(), delivery.path("pipeline").asText(), delivery.path("checkpoint").asText(), views);
  }
}
