package headrace.clock;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * The clock's offset: W per source, W per program and the tick, nothing else.
 *
 * <p>W of a program is the least of its sources and never less than it was: state and late rows were judged
 * by it. It is logged, since after a change of the pipeline it does not follow from the sources any more.
 *
 * <p>Spark compares offsets by their JSON and starts an epoch whenever it changed. So what changes without
 * moving W (maxima, silence) must not be in it, and the sources are written in the order of their names.
 */
final class ClockOffset extends Offset {
  /** W by the name of the source, in microseconds. */
  final SortedMap<String, Long> watermarks;

  /** W by the number of the program; one that was not there when this was logged has none. */
  final SortedMap<Integer, Long> programs;

  /** The processing time in milliseconds at which this offset came to be. */
  final long tick;

  ClockOffset(SortedMap<String, Long> watermarks, SortedMap<Integer, Long> programs, long tick) {
    this.watermarks = watermarks;
    this.programs = programs;
    this.tick = tick;
  }

  /** Where a clock starts. */
  static ClockOffset initial(Collection<String> sources) {
    SortedMap<String, Long> none = new TreeMap<>();
    sources.forEach(source -> none.put(source, EpochWatermarks.NONE));
    return new ClockOffset(none, new TreeMap<>(), 0);
  }

  static ClockOffset parse(String json) {
    try {
      return of(ClockSpec.JSON.readTree(json));
    } catch (JsonProcessingException broken) {
      throw new IllegalStateException("The clock's offset in the checkpoint cannot be read: " + json, broken);
    }
  }

  static ClockOffset of(JsonNode node) {
    SortedMap<String, Long> watermarks = new TreeMap<>();
    node.path("watermarks").properties().forEach(one -> watermarks.put(one.getKey(), one.getValue().asLong()));
    SortedMap<Integer, Long> programs = new TreeMap<>();
    node.path("programs").properties()
        .forEach(one -> programs.put(Integer.valueOf(one.getKey()), one.getValue().asLong()));
    return new ClockOffset(watermarks, programs, node.path("tick").asLong());
  }

  /** Whether this is the JSON of a clock's offset, and not of some other source's. */
  static boolean isOne(JsonNode node) {
    return node.isObject() && node.size() == 3 && node.has("watermarks") && node.has("programs") && node.has("tick");
  }

  @Override
  public String json() {
    ObjectNode root = ClockSpec.JSON.createObjectNode();
    ObjectNode of = root.putObject("watermarks");
    watermarks.forEach(of::put);
    ObjectNode by = root.putObject("programs");
    programs.forEach((program, watermark) -> by.put(program.toString(), watermark));
    root.put("tick", tick);
    return root.toString();
  }
}
