package headrace.clock.policy;

import headrace.clock.EpochWatermarks;
import java.util.Map;

/** How the watermark of one source follows from what was seen of its partitions. Knows nothing of Spark. */
public interface Policy {
  /** Rows with event times were processed, and this is the highest of their partition so far; it need not have moved. */
  void observe(int partition, long maxMicros);

  /** What a look at the source at {@code millis} (wall clock) found, for all its partitions. */
  void poll(long millis, Map<Integer, Position> positions);

  /** The wall clock at which the next watermark is asked for; only a policy that goes by it listens. */
  default void tick(long millis) {}

  /** The watermark in microseconds; {@link EpochWatermarks#NONE} while there is none. Never goes back. */
  long watermark();

  /** The watermark is at least this: it was logged before a restart. */
  void atLeast(long watermark);

  /** What every known partition is doing. */
  Map<Integer, Standing> standings();

  /** What a partition is doing as seen by its policy. */
  enum Standing {
    /** Nothing was ever seen of it. */
    UNHEARD,
    /** There are rows that have not been processed. */
    LAGGING,
    /** All of it has been processed, and it is not silent for long. */
    CAUGHT_UP,
    /** All of it has been processed, and nothing new came for the timeout. */
    IDLE
  }
}
