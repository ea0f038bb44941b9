package headrace.clock.policy;

import headrace.clock.EpochWatermarks;
import java.util.Map;

/**
 * The watermark is the wall clock less a lag, in steps: whatever comes, and whether anything comes.
 *
 * <p>It moves, and so starts an epoch, at most once a step. Unread rows do not hold it.
 */
public final class ProcessingTime implements Policy {
  private final long lagMicros;
  private final long stepMicros;
  // Idle or not makes no difference here; for people, a partition is what it is.
  private final Partitions partitions = new Partitions(-1);
  private long watermark = EpochWatermarks.NONE;

  public ProcessingTime(long lagMicros, long stepMicros) {
    if (lagMicros < 0 || stepMicros <= 0) {
      throw new IllegalArgumentException(
          "A watermark that follows the wall clock has a lag of " + lagMicros + " µs and steps of " + stepMicros
              + " µs.");
    }
    this.lagMicros = lagMicros;
    this.stepMicros = stepMicros;
  }

  @Override
  public void tick(long millis) {
    atLeast(Math.floorDiv(millis * 1_000 - lagMicros, stepMicros) * stepMicros);
  }

  @Override
  public void observe(int partition, long maxMicros) {
    partitions.observe(partition, maxMicros);
  }

  @Override
  public void poll(long millis, Map<Integer, Position> positions) {
    partitions.poll(millis, positions);
  }

  @Override
  public void atLeast(long least) {
    watermark = Math.max(watermark, least);
  }

  @Override
  public long watermark() {
    return watermark;
  }

  @Override
  public Map<Integer, Standing> standings() {
    return partitions.standings();
  }
}
