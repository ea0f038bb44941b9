package headrace.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.clock.Clock;
import headrace.deliver.Delivery;
import java.time.Instant;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * The work of each epoch on the driver: deliver, then keep what the clock learned, before Spark commits.
 *
 * <p>The rows arrive packed, in their final order; nothing has been computed until they are asked for, so
 * the whole epoch is one job.
 */
public final class Epochs implements VoidFunction2<Dataset<Row>, Long> {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final double THOUSAND = 1_000;

  private final String query;
  private final Progress progress;
  private final ObjectNode delivery;
  private final JsonNode outlets;
  private final JsonNode steps;
  private final boolean showsKeys;

  /**
   * @param delivery the delivery's JSON without its epoch, see {@link headrace.deliver.DeliverySpec}
   * @param outlets per outlet {"name", "delivery": label or null, "counted": [kind, step] or null, "ledger": whether it is the ledger}
   * @param steps the names of the stateful steps by their program
   * @param showsKeys whether progress tells the keys that many rows have, or only their share
   */
  public Epochs(String query, Progress progress, String delivery, String outlets, String steps, boolean showsKeys) {
    this.query = query;
    this.progress = progress;
    this.showsKeys = showsKeys;
    try {
      this.delivery = (ObjectNode) JSON.readTree(delivery);
      this.outlets = JSON.readTree(outlets);
      this.steps = JSON.readTree(steps);
    } catch (JsonProcessingException broken) {
      // Not quoted: it may hold secrets.
      throw new IllegalArgumentException("the epochs' description is not JSON, at " + broken.getLocation());
    }
  }

  @Override
  public void call(Dataset<Row> packed, Long epoch) {
    ObjectNode spec = delivery.deepCopy();
    spec.put("epoch", epoch);
    ObjectNode handed = Delivery.deliver(packed, spec.toString());
    ObjectNode ledger = closed(epoch, handed.path("ledger"));
    Clock clock = Clock.of(query);
    clock.epochEnded(epoch);
    ObjectNode line = line(epoch, handed, clock.status());
    line.set("ledger", ledger);
    line.set("hot_keys", hot(handed.path("hot")));
    progress.counted(epoch, line);
  }

  /** The ledger by step; a row that came and is in none of its columns is an error, and the epoch is not committed. */
  private ObjectNode closed(long epoch, JsonNode byProgram) {
    ObjectNode byStep = JSON.createObjectNode();
    byProgram.properties().forEach(account -> {
      JsonNode counts = account.getValue();
      String step = steps.path(account.getKey()).asText(account.getKey());
      long in = counts.path("in").asLong();
      long out = counts.path("used").asLong() + counts.path("late").asLong() + counts.path("duplicate").asLong()
          + counts.path("rejected").asLong();
      if (in != out) {
        throw new IllegalStateException("the ledger of step '" + step + "' does not close in epoch " + epoch + ": " + in + " rows came, "
            + out + " are accounted for (" + counts + ")");
      }
      byStep.set(step, counts);
    });
    return byStep;
  }

  private ArrayNode hot(JsonNode byProgram) {
    ArrayNode found = JSON.createArrayNode();
    byProgram.properties().forEach(program -> {
      for (JsonNode hot : program.getValue()) {
        ObjectNode told = found.addObject().put("step", steps.path(program.getKey()).asText(program.getKey()));
        if (showsKeys) {
          told.set("key", tree(hot.path("key").asText()));
        }
        told.put("share", Math.round(hot.path("share").asDouble() * THOUSAND) / THOUSAND);
      }
    });
    return found;
  }

  private static JsonNode tree(String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException impossible) {
      // Not quoted: it is a key.
      throw new IllegalStateException("a key is not JSON, at " + impossible.getLocation());
    }
  }

  private ObjectNode line(long epoch, ObjectNode handed, String status) {
    ObjectNode line = JSON.createObjectNode();
    line.put("event", "epoch").put("epoch", epoch).put("at", Instant.now().toString());
    JsonNode clock;
    try {
      clock = JSON.readTree(status);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
    times(line, clock);
    for (String kind : new String[] {"fired", "late", "duplicate", "timed_out", "rejected", "delivered"}) {
      line.putObject(kind);
    }
    JsonNode counts = handed.path("delivered");
    for (JsonNode outlet : outlets) {
      if (outlet.path("ledger").asBoolean()) {
        continue;
      }
      long rows = counts.path(outlet.path("name").asText()).asLong();
      JsonNode counted = outlet.path("counted");
      if (counted.isArray()) {
        add(line, counted.get(0).asText(), counted.get(1).asText(), rows);
      } else {
        add(line, "delivered", outlet.path("delivery").asText(), rows);
      }
    }
    line.put("skipped_tasks", handed.path("skipped").asLong());
    return line;
  }

  private static void times(ObjectNode line, JsonNode clock) {
    ObjectNode watermarks = line.putObject("watermarks");
    ObjectNode lags = line.putObject("watermark_lag_seconds");
    long backlog = 0;
    var sources = clock.path("sources").fields();
    while (sources.hasNext()) {
      var source = sources.next();
      backlog += source.getValue().path("backlog").asLong();
      JsonNode watermark = source.getValue().path("watermark");
      if (!watermark.isNumber()) {
        watermarks.putNull(source.getKey());
        lags.putNull(source.getKey());
      } else if (watermark.asLong() == Long.MAX_VALUE) {
        watermarks.put(source.getKey(), "end");
        lags.put(source.getKey(), 0.0);
      } else {
        long millis = Math.floorDiv(watermark.asLong(), 1000L);
        watermarks.put(source.getKey(), Instant.ofEpochMilli(millis).toString());
        lags.put(source.getKey(), (System.currentTimeMillis() - millis) / 1000.0);
      }
    }
    line.put("backlog", backlog);
  }

  private static void add(ObjectNode line, String kind, String name, long rows) {
    ObjectNode counts = (ObjectNode) line.get(kind);
    counts.put(name, counts.path(name).asLong() + rows);
  }
}
