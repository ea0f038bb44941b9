package headrace.codec;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;

/**
 * Which field of a message is its event time, and how far ahead of the clock it can be true.
 *
 * <p>As JSON: {@code {"time": "at", "ahead_micros": 600000000}}, either of them absent.
 *
 * @param ordinal the field's place in the message's struct, -1 when it has no event time
 * @param name the field's name
 * @param ahead microseconds, Long.MAX_VALUE for no limit
 */
public record EventTime(int ordinal, String name, long ahead) implements Serializable {
  private static final long MICROS_A_SECOND = 1_000_000;
  private static final long[] SECONDS = {365 * 86_400 + 86_400 / 4, 86_400, 3_600, 60, 1};
  private static final String[] UNITS = {"year", "day", "hour", "minute", "second"};

  /** Reads the JSON of a spec against the message's struct. */
  public static EventTime of(String json, StructType schema) {
    JsonNode spec;
    try {
      spec = new ObjectMapper().readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("the codec's spec is not JSON: " + json, e);
    }
    for (Iterator<String> names = spec.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!name.equals("time") && !name.equals("ahead_micros")) {
        throw new IllegalArgumentException("the codec's spec has an unknown entry: " + name);
      }
    }
    if (!spec.hasNonNull("time")) {
      return new EventTime(-1, "", Long.MAX_VALUE);
    }
    String name = spec.get("time").asText();
    String[] names = schema.fieldNames();
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals(name)) {
        if (!(schema.fields()[i].dataType() instanceof TimestampType)) {
          throw new IllegalArgumentException(
              "event time " + name + " is not a timestamp but a "
                  + schema.fields()[i].dataType().catalogString());
        }
        JsonNode ahead = spec.get("ahead_micros");
        boolean bounded = ahead != null && !ahead.isNull();
        return new EventTime(i, name, bounded ? ahead.asLong() : Long.MAX_VALUE);
      }
    }
    throw new IllegalArgumentException("event time " + name + " is not a field of the message");
  }

  /** Refuses a time that cannot be true yet. */
  void check(long micros, long now) throws Unreadable {
    if (micros - now > ahead) {
      Instant time = Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
      throw new Unreadable(
          "event time " + time + " is " + span(micros - now) + " ahead of the clock (limit "
              + span(ahead) + ")");
    }
  }

  /** The two largest units; years alone, nobody wants the days of 163 years. */
  static String span(long micros) {
    long seconds = micros / MICROS_A_SECOND;
    for (int i = 0; i < UNITS.length; i++) {
      long count = seconds / SECONDS[i];
      if (count > 0) {
        String text = counted(count, UNITS[i]);
        long rest = i == 0 || i + 1 == UNITS.length ? 0 : seconds % SECONDS[i] / SECONDS[i + 1];
        return rest == 0 ? text : text + " " + counted(rest, UNITS[i + 1]);
      }
    }
    return counted(micros / 1000, "millisecond");
  }

  private static String counted(long count, String unit) {
    return count + " " + unit + (count == 1 ? "" : "s");
  }
}
