package headrace.clock;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.TaskContext;

/** W of every program as logged for the epoch at hand, carried to its tasks as a local property. */
public final class EpochWatermarks {
  /** The name of the local property. */
  public static final String PROPERTY = "headrace.watermarks";

  /** No watermark yet: nothing is late, nothing fires. */
  public static final long NONE = Long.MIN_VALUE;

  /** Drained: every window fires. */
  public static final long END = Long.MAX_VALUE;

  private EpochWatermarks() {}

  /** The property's text: {@code 1=1767225600000000;2=...}, in the order of the programs. */
  public static String format(Map<Integer, Long> byProgram) {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<Integer, Long> one : new TreeMap<>(byProgram).entrySet()) {
      text.append(text.length() == 0 ? "" : ";").append(one.getKey()).append('=').append(one.getValue());
    }
    return text.toString();
  }

  /** W of a program in this task's epoch; NONE when it has none yet. */
  public static long of(int program) {
    return of(text(), program);
  }

  /** The property as this task sees it. */
  public static String text() {
    TaskContext task = TaskContext.get();
    if (task == null) {
      throw new IllegalStateException(
          "The watermarks of an epoch are known inside its tasks only, and this is not a task.");
    }
    String text = task.getLocalProperty(PROPERTY);
    if (text == null) {
      throw new IllegalStateException(
          "This task does not know the watermarks of its epoch (local property " + PROPERTY + " is not set): "
              + "the job was started outside the epoch's thread, or the query reads no clock source.");
    }
    return text;
  }

  static long of(String text, int program) {
    int at = 0;
    while (at < text.length()) {
      int equals = text.indexOf('=', at);
      int end = text.indexOf(';', equals);
      if (end < 0) {
        end = text.length();
      }
      if (Integer.parseInt(text.substring(at, equals)) == program) {
        return Long.parseLong(text.substring(equals + 1, end));
      }
      at = end + 1;
    }
    return NONE;
  }
}
