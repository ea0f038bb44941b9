package headrace.clock.policy;

import java.io.Serializable;
import java.util.Arrays;

/**
 * How late the rows of one partition were in one epoch, as the one task saw them that read them in their order.
 *
 * <p>A row's lateness is by how much its event time is below the highest one before it in its partition. It
 * does not depend on where epochs are cut, so what is learned from large epochs (catching up) holds for small
 * ones. Counted per bucket: bucket 0 is in order, bucket 1 up to a millisecond, and from there on each is
 * 0.9 % wider than the one before, so the upper edge is above a lateness by less than 1 %.
 */
public final class Lateness implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final double GROWTH = 1.009;
  private static final double LOG_GROWTH = Math.log(GROWTH);
  private static final long FINEST_MICROS = 1_000;
  /** In microseconds, inclusive; the last one is more than a hundred years. */
  private static final long[] UPPER = upperEdges();

  private final long watermark;
  private long max;
  private long rows;
  private long behind;
  private long[] counts = {};

  /**
   * @param max the highest event time of the partition before this epoch; the least there is when nothing was
   *     seen, so that its first row is in order
   * @param watermark the source's in this epoch: a row before it came too late to be complete
   */
  public Lateness(long max, long watermark) {
    this.max = max;
    this.watermark = watermark;
  }

  /** The next row of the partition. */
  public void observe(long timeMicros) {
    rows++;
    if (timeMicros < watermark) {
      behind++;
    }
    int bucket = 0;
    if (timeMicros >= max) {
      max = timeMicros;
    } else {
      long late = max - timeMicros;
      // Times from both ends of the scale: further apart than a long can say.
      bucket = bucket(late < 0 ? Long.MAX_VALUE : late);
    }
    if (bucket >= counts.length) {
      counts = Arrays.copyOf(counts, Math.max(bucket + 1, Math.min(UPPER.length, 2 * counts.length)));
    }
    counts[bucket]++;
  }

  /** Rows seen. */
  public long rows() {
    return rows;
  }

  /** Rows whose event time was below the watermark of their epoch. */
  public long behind() {
    return behind;
  }

  /** The highest event time so far. */
  public long max() {
    return max;
  }

  long[] counts() {
    return counts;
  }

  /** The bucket of a lateness; what is beyond the last one is in the last one. */
  static int bucket(long micros) {
    if (micros <= FINEST_MICROS) {
      return micros <= 0 ? 0 : 1;
    }
    double exact = 1 + Math.log((double) micros / FINEST_MICROS) / LOG_GROWTH;
    int bucket = (int) Math.min(UPPER.length - 1, Math.ceil(exact));
    // The logarithm may be off by its last bit, the edges are not.
    while (bucket > 1 && UPPER[bucket - 1] >= micros) {
      bucket--;
    }
    while (bucket < UPPER.length - 1 && UPPER[bucket] < micros) {
      bucket++;
    }
    return bucket;
  }

  /** The longest lateness of a bucket, in microseconds. */
  static long upper(int bucket) {
    return UPPER[bucket];
  }

  private static long[] upperEdges() {
    long longest = 200L * 366 * 86_400 * 1_000_000;
    int count = 2 + (int) Math.ceil(Math.log((double) longest / FINEST_MICROS) / LOG_GROWTH);
    long[] upper = new long[count];
    for (int i = 1; i < count; i++) {
      upper[i] = (long) Math.ceil(FINEST_MICROS * Math.pow(GROWTH, i - 1.0));
    }
    return upper;
  }
}
