package headrace.clock;

import headrace.clock.policy.Lateness;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.util.AccumulatorV2;

/**
 * The highest event time seen per source and partition of a source, gathered by the tasks of an epoch; and
 * for the sources that learn, how late their rows were.
 *
 * <p>Spark adds up what every attempt of a task reports, not what every task did: a task that is tried again,
 * or a job that runs twice over one epoch, reports again. A maximum may be reported twice without harm, a count
 * may not, which is why counts leave the operator as rows and never come this way. Lateness is counts too, and
 * comes this way all the same, since nothing but the clock is fed by it: every report has a key that says
 * which rows it is about (epoch, source, partition, first offset), and a second one of the same key replaces
 * the first instead of being added to it.
 */
public final class Maxima extends AccumulatorV2<long[], Map<Integer, Map<Integer, Long>>> {
  private static final long serialVersionUID = 1L;
  private static final long[] NOTHING = {};

  /** By source, then by partition; {@link EpochWatermarks#NONE} where nothing was seen. */
  private long[][] highest = {};

  /** By source, then by partition: how often one was reported. It tells whether there was news, no more. */
  private long[][] reports = {};

  /** Replaced as a whole, never changed: a heartbeat may serialise this object at any time. */
  private Map<Part, Lateness> parts = Map.of();

  /** Which rows a report of lateness is about: an epoch's rows of a partition, from an offset on. */
  public record Part(long epoch, int source, int partition, long firstOffset)
      implements Comparable<Part>, Serializable {
    private static final Comparator<Part> ORDER =
        Comparator.comparingLong(Part::epoch)
            .thenComparingInt(Part::source)
            .thenComparingInt(Part::partition)
            .thenComparingLong(Part::firstOffset);

    @Override
    public int compareTo(Part other) {
      return ORDER.compare(this, other);
    }
  }

  /** Called once per part, when a task has read it; the same part again replaces what was known of it. */
  public synchronized void observe(Part part, Lateness seen) {
    Map<Part, Lateness> more = new HashMap<>(parts);
    more.put(part, seen);
    parts = more;
  }

  /**
   * The parts of an epoch that has ended, by source, in the order of their positions. Nothing is left: what
   * comes in afterwards of an epoch that was taken is a straggler's, and is dropped with the next one.
   */
  synchronized Map<Integer, List<Lateness>> take(long epoch) {
    Map<Integer, List<Lateness>> taken = new TreeMap<>();
    new TreeMap<>(parts).forEach((part, seen) -> {
      if (part.epoch() == epoch) {
        taken.computeIfAbsent(part.source(), s -> new ArrayList<>()).add(seen);
      }
    });
    parts = Map.of();
    return taken;
  }

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
    if (!((Maxima) other).parts.isEmpty()) {
      Map<Part, Lateness> more = new HashMap<>(parts);
      more.putAll(((Maxima) other).parts);
      parts = more;
    }
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
    return parts.isEmpty();
  }

  @Override
  public synchronized Maxima copy() {
    Maxima copy = new Maxima();
    copy.parts = parts;
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
    parts = Map.of();
  }
}
