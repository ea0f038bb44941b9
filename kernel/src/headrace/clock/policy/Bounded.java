package headrace.clock.policy;

import java.util.Map;

/**
 * Events are out of order by at most a fixed lag, within each partition: the watermark is the least of
 * (highest event time − lag) over the partitions that are not idle.
 *
 * <p>A lag of nothing and no timeout is the perfect watermark; the same over the values of markers, which
 * are then all that is observed, is the punctuated one.
 */
public final class Bounded implements Policy {
  private final long lagMicros;
  private final Partitions partitions;

  /** An {@code idleMillis} below zero: no partition is ever idle. */
  public Bounded(long lagMicros, long idleMillis) {
    if (lagMicros < 0) {
      throw new IllegalArgumentException("The lag of a bounded watermark is negative: " + lagMicros + " µs.");
    }
    this.lagMicros = lagMicros;
    partitions = new Partitions(idleMillis);
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
    partitions.atLeast(least);
  }

  @Override
  public long watermark() {
    return partitions.watermark(lagMicros);
  }

  @Override
  public Map<Integer, Standing> standings() {
    return partitions.standings();
  }
}
