package headrace.clock.policy;

import headrace.clock.EpochWatermarks;
import java.util.Map;
import java.util.TreeMap;

/** The watermark goes where it is told to and nowhere else: for tests. */
public final class ByHand implements Policy {
  private final Map<Integer, Position> positions = new TreeMap<>();
  private long watermark = EpochWatermarks.NONE;

  /** Moves the watermark on; an earlier one leaves it where it is. */
  @Override
  public void atLeast(long least) {
    watermark = Math.max(watermark, least);
  }

  @Override
  public void observe(int partition, long maxMicros) {}

  @Override
  public void poll(long millis, Map<Integer, Position> seen) {
    positions.putAll(seen);
  }

  @Override
  public long watermark() {
    return watermark;
  }

  @Override
  public Map<Integer, Standing> standings() {
    Map<Integer, Standing> standings = new TreeMap<>();
    positions.forEach(
        (number, position) ->
            standings.put(number, position.caughtUp() ? Standing.CAUGHT_UP : Standing.LAGGING));
    return standings;
  }
}
