package headrace.deliver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import headrace.view.ViewSpec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one epoch is to deliver: which rows go where, as which epoch of which history. */
public record DeliverySpec(
    String pipeline,
    String checkpoint,
    long epoch,
    int partitions,
    String markerTopic,
    List<Outlet> outlets,
    ViewSpec views,
    ClientOptions clients,
    int transactionTimeoutMs)
    implements Serializable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int DEFAULT_TRANSACTION_TIMEOUT_MS = 60_000;

  /** Reads the driver's JSON; a broken one is told without quoting it, since it holds secrets. */
  public static DeliverySpec parse(String text) {
    JsonNode json;
    try {
      json = JSON.readTree(text);
    } catch (JsonProcessingException broken) {
      throw new IllegalArgumentException("the delivery is no JSON, at " + broken.getLocation());
    }
    ArrayList<Outlet> outlets = new ArrayList<>();
    for (JsonNode outlet : json.path("outlets")) {
      outlets.add(Outlet.parse(outlet));
    }
    for (int at = 0; at < outlets.size(); at++) {
      if (outlets.get(at).ordinal() != at) {
        throw new IllegalArgumentException("outlet " + outlets.get(at).name() + " has ordinal "
            + outlets.get(at).ordinal() + " and stands at " + at);
      }
    }
    boolean sends = outlets.stream().anyMatch(outlet -> outlet.kind().sends());
    boolean marks = outlets.stream().anyMatch(outlet -> outlet.kind() == Outlet.Kind.EXACTLY_ONCE);
    return new DeliverySpec(
        required(json, "pipeline"),
        required(json, "checkpoint"),
        Long.parseLong(required(json, "epoch")),
        Integer.parseInt(required(json, "partitions")),
        marks ? required(json, "markerTopic") : null,
        outlets,
        ViewSpec.parse(json),
        sends ? clients(json.path("clients")) : null,
        json.path("transactionTimeoutMs").asInt(DEFAULT_TRANSACTION_TIMEOUT_MS));
  }

  private static String required(JsonNode json, String name) {
    if (!json.hasNonNull(name)) {
      throw new IllegalArgumentException("the delivery lacks '" + name + "'");
    }
    return json.get(name).asText();
  }

  private static ClientOptions clients(JsonNode json) {
    Map<String, String> options = new LinkedHashMap<>();
    json.properties().forEach(option -> options.put(option.getKey(), option.getValue().asText()));
    return new ClientOptions(options);
  }

  /** Whether any outlet needs a transaction and its marker. */
  boolean exactlyOnce() {
    return markerTopic != null;
  }

  @Override
  public String toString() {
    return "delivery of " + pipeline + " epoch " + epoch + " of checkpoint " + checkpoint;
  }
}
