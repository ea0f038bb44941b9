package headrace.clock;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.util.AccumulatorV2;

/**
 * The highest event time seen per source and partition of a source, gathered by the tasks of an epoch.
 *
 * <p>A maximum may be reported twice (a task that is tried again, an epoch that is replayed) without
 * harm; a count could not, which is why counts leave the operator as rows and never come this way.
 */
public final class Maxima extends AccumulatorV2<long[], Map<Integer, Map<Integer, Long>>> {
  private static final long serialVersionUID = 1L;
  private static final long[] NOTHING = {};

  /** By source, then by partition; {@link EpochWatermarks#NONE} where nothing was seen. */
  private long[][] highest = {};

  /** By source, then by partition: how often one was reported. It tells whether there was news, no more. */
  private long[][] reports = {};

  /** Called for every row of a task: no boxing, no lock. */
  public void observe(int source, int partition, long timeMicros) {
    if (source >= highest.length || partition >= highest[source].length) {
      widen(source, partition);
    }
    long[] times = highest[source];
    reports[source][partition]++;
    if (timeMicros > times[partition]) {
      times[partition] = timeMicros;
    }
  }

  private void widen(int source, int partition) {
    long[][] wider = Arrays.copyOf(highest, Math.max(highest.length, source + 1));
    for (int s = highest.length; s < wider.length; s++) {
      wider[s] = NOTHING;
    }
    if (partition >= wider[source].length) {
      long[] times = Arrays.copyOf(wider[source], partition + 1);
      Arrays.fill(times, wider[source].length, times.length, EpochWatermarks.NONE);
      wider[source] = times;
    }
    long[][] more = Arrays.copyOf(reports, wider.length);
    for (int s = 0; s < wider.length; s++) {
      more[s] = more[s] == null ? new long[wider[s].length] : Arrays.copyOf(more[s], wider[s].length);
    }
    // Put in place last: a heartbeat may serialise this object meanwhile.
    reports = more;
    highest = wider;
  }

  /** {source, partition, time in microseconds}. */
  @Override
  public synchronized void add(long[] seen) {
    observe((int) seen[0], (int) seen[1], seen[2]);
  }

  @Override
  public synchronized void merge(AccumulatorV2<long[], Map<Integer, Map<Integer, Long>>> other) {
    long[][] theirs = ((Maxima) other).highest;
    for (int source = 0; source < theirs.length; source++) {
      for (int partition = 0; partition < theirs[source].length; partition++) {
        if (theirs[source][partition] != EpochWatermarks.NONE) {
          observe(source, partition, theirs[source][partition]);
        }
      }
    }
  }

  /** Only what was seen: source index to partition to time. */
  @Override
  public synchronized Map<Integer, Map<Integer, Long>> value() {
    Map<Integer, Map<Integer, Long>> seen = new TreeMap<>();
    for (int source = 0; source < highest.length; source++) {
      for (int partition = 0; partition < highest[source].length; partition++) {
        if (highest[source][partition] != EpochWatermarks.NONE) {
          seen.computeIfAbsent(source, s -> new TreeMap<>()).put(partition, highest[source][partition]);
        }
      }
    }
    return seen;
  }

  /** How often each was reported: source index to partition to a number that grows with each report. */
  public synchronized Map<Integer, Map<Integer, Long>> reports() {
    Map<Integer, Map<Integer, Long>> times = new TreeMap<>();
    for (int source = 0; source < reports.length; source++) {
      for (int partition = 0; partition < reports[source].length; partition++) {
        times.computeIfAbsent(source, s -> new TreeMap<>()).put(partition, reports[source][partition]);
      }
    }
    return times;
  }

  @Override
  public boolean isZero() {
    for (long[] times : highest) {
      for (long time : times) {
        if (time != EpochWatermarks.NONE) {
          return false;
        }
      }
    }
    return true;
  }

  @Override
  public synchronized Maxima copy() {
    Maxima copy = new Maxima();
    copy.highest = new long[highest.length][];
    for (int source = 0; source < highest.length; source++) {
      copy.highest[source] = highest[source].clone();
    }
    copy.reports = new long[reports.length][];
    for (int source = 0; source < reports.length; source++) {
      copy.reports[source] = reports[source].clone();
    }
    return copy;
  }

  @Override
  public synchronized void reset() {
    highest = new long[0][];
    reports = new long[0][];
  }
}
