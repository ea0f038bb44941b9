package headrace.clock.policy;

import headrace.clock.EpochWatermarks;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;

/**
 * An adaptive watermark over recorded rows, without Spark: what its lag and its completeness would have been.
 *
 * <p>Each epoch does what a clock and its tasks do: lateness is measured per partition against the maxima of
 * the epochs before, W follows from those alone, and the policy learns when the epoch is over.
 */
public final class Rehearsal {
  private Rehearsal() {}

  /**
   * One epoch.
   *
   * @param behind rows whose event time was below W
   * @param watermark W of the epoch; NONE before there was one
   * @param lag by how much W was behind the highest event time of the slowest partition
   * @param least the highest event time of the slowest partition before the epoch; NONE before there was one
   */
  public record Epoch(int rows, long behind, long watermark, long lag, long least) {}

  /** The rows in the order in which they arrive; {@code rowsOfEpoch} says how many there are in each. */
  public static List<Epoch> run(int[] partitions, long[] times, IntUnaryOperator rowsOfEpoch, Adaptive policy) {
    List<Epoch> epochs = new ArrayList<>();
    Map<Integer, Long> maxima = new HashMap<>();
    for (int partition : partitions) {
      maxima.put(partition, EpochWatermarks.NONE);
    }
    Map<Integer, Position> reading = new HashMap<>();
    maxima.keySet().forEach(partition -> reading.put(partition, new Position(0, 1)));
    policy.poll(0, reading);
    for (int from = 0, to; from < times.length; from = to) {
      to = Math.min(times.length, from + rowsOfEpoch.applyAsInt(epochs.size()));
      long watermark = policy.watermark();
      long least = maxima.values().stream().mapToLong(Long::longValue).min().orElse(EpochWatermarks.NONE);
      Map<Integer, Lateness> seen = new TreeMap<>();
      for (int row = from; row < to; row++) {
        seen.computeIfAbsent(partitions[row], partition -> new Lateness(maxima.get(partition), watermark))
            .observe(times[row]);
      }
      long behind = seen.values().stream().mapToLong(Lateness::behind).sum();
      epochs.add(new Epoch(to - from, behind, watermark, policy.lag(), least));
      seen.forEach((partition, lateness) -> {
        maxima.put(partition, lateness.max());
        policy.observe(partition, lateness.max());
      });
      policy.learn(List.copyOf(seen.values()));
    }
    return epochs;
  }

  /**
   * Arguments: completeness, the longest lag in microseconds, rows to an epoch. Standard input: the number of
   * rows as an int, then per row its partition as an int and its event time in microseconds as a long. One line
   * per epoch comes out, with the fields of {@link Epoch} and tabs between them.
   */
  public static void main(String[] arguments) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
    int rows = in.readInt();
    int[] partitions = new int[rows];
    long[] times = new long[rows];
    for (int row = 0; row < rows; row++) {
      partitions[row] = in.readInt();
      times[row] = in.readLong();
    }
    Adaptive policy = new Adaptive(Double.parseDouble(arguments[0]), Long.parseLong(arguments[1]), -1);
    StringBuilder out = new StringBuilder();
    int rowsPerEpoch = Integer.parseInt(arguments[2]);
    for (Epoch epoch : run(partitions, times, number -> rowsPerEpoch, policy)) {
      out.append(epoch.rows()).append('\t').append(epoch.behind()).append('\t').append(epoch.watermark()).append('\t')
          .append(epoch.lag()).append('\t').append(epoch.least()).append('\n');
    }
    System.out.print(out);
  }
}
