package headrace.clock;

import headrace.clock.policy.Lateness;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;

/**
 * What the lateness of an epoch's rows is measured against: W and the highest event time per partition of the
 * sources that learn, as known when the epoch began. Carried to its tasks as a local property.
 *
 * <p>From what the last committed epoch left behind, so that a replayed epoch measures the same.
 */
public final class EpochMaxima {
  /** The name of the local property. */
  public static final String PROPERTY = "headrace.maxima";

  /** One source that learns. */
  record Source(long watermark, Map<Integer, Long> maxima) {}

  private final long epoch;
  private final Map<Integer, Source> sources;

  EpochMaxima(long epoch, Map<Integer, Source> sources) {
    this.epoch = epoch;
    this.sources = sources;
  }

  /** As this task sees it; outside of an epoch's tasks nothing is learned. */
  public static EpochMaxima ofTask() {
    TaskContext task = TaskContext.get();
    String text = task == null ? null : task.getLocalProperty(PROPERTY);
    String number = task == null ? null : task.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY());
    return text == null || text.isEmpty() || number == null
        ? new EpochMaxima(-1, Map.of())
        : new EpochMaxima(Long.parseLong(number), parse(text));
  }

  /** The number of the epoch. */
  public long epoch() {
    return epoch;
  }

  /** What a task measures the rows of a partition with; null when nobody learns from them. */
  public Lateness begin(int source, int partition) {
    Source known = sources.get(source);
    return known == null
        ? null
        : new Lateness(known.maxima().getOrDefault(partition, EpochWatermarks.NONE), known.watermark());
  }

  /** The property's text: {@code 0|W|partition=max,...;...}. */
  static String format(SortedMap<Integer, Source> sources) {
    StringBuilder text = new StringBuilder();
    sources.forEach((index, source) -> {
      text.append(text.length() == 0 ? "" : ";").append(index).append('|').append(source.watermark()).append('|');
      String between = "";
      for (Map.Entry<Integer, Long> max : source.maxima().entrySet()) {
        text.append(between).append(max.getKey()).append('=').append(max.getValue());
        between = ",";
      }
    });
    return text.toString();
  }

  static Map<Integer, Source> parse(String text) {
    Map<Integer, Source> sources = new HashMap<>();
    for (String one : text.split(";")) {
      String[] parts = one.split("\\|", -1);
      Map<Integer, Long> maxima = new HashMap<>();
      for (String max : parts[2].split(",")) {
        int equals = max.indexOf('=');
        if (equals > 0) {
          maxima.put(Integer.valueOf(max.substring(0, equals)), Long.valueOf(max.substring(equals + 1)));
        }
      }
      sources.put(Integer.valueOf(parts[0]), new Source(Long.parseLong(parts[1]), maxima));
    }
    return sources;
  }
}
