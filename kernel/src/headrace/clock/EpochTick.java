package headrace.clock;

import org.apache.spark.TaskContext;

/**
 * The processing time of the clock's last tick before the epoch at hand, carried to its tasks as a local property.
 *
 * <p>It is in the offset that the epoch starts from, so a replay sees the same. A group that keeps no state knows by it which moments of
 * its trigger pass with this epoch's tick.
 */
public final class EpochTick {
  /** The name of the local property. */
  public static final String PROPERTY = "headrace.tick";

  private EpochTick() {}

  /** The property's text; a clock that has not ticked stands at 0. */
  static String format(long millis) {
    return millis == 0 ? null : Long.toString(millis);
  }

  /** Milliseconds, as this task sees them; {@link EpochWatermarks#NONE} before the first tick. */
  public static long before() {
    TaskContext task = TaskContext.get();
    String text = task == null ? null : task.getLocalProperty(PROPERTY);
    return text == null ? EpochWatermarks.NONE : Long.parseLong(text);
  }
}
