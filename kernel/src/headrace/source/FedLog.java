package headrace.source;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What was fed to one source: rows in their partitions, and the order in which they came. */
final class FedLog {
  /** One row as it was fed. */
  record Fed(byte[] key, byte[] value, long timestampMillis) implements Serializable {}

  private final String source;
  private final List<List<Fed>> partitions = new ArrayList<>(List.of(new ArrayList<>()));
  private final List<Integer> order = new ArrayList<>();
  private long rowsPerEpoch;

  FedLog(String source) {
    this.source = source;
  }

  String source() {
    return source;
  }

  synchronized void append(int partition, byte[] key, byte[] value, long timestampMillis) {
    partitions(partition + 1);
    partitions.get(partition).add(new Fed(key, value, timestampMillis));
    order.add(partition);
  }

  synchronized void partitions(int count) {
    while (partitions.size() < count) {
      partitions.add(new ArrayList<>());
    }
  }

  synchronized void rowsPerEpoch(long rows) {
    rowsPerEpoch = rows;
  }

  synchronized Map<Integer, Long> start() {
    Map<Integer, Long> start = new TreeMap<>();
    for (int partition = 0; partition < partitions.size(); partition++) {
      start.put(partition, 0L);
    }
    return start;
  }

  synchronized Map<Integer, Long> end() {
    Map<Integer, Long> end = new TreeMap<>();
    for (int partition = 0; partition < partitions.size(); partition++) {
      end.put(partition, (long) partitions.get(partition).size());
    }
    return end;
  }

  /** Where an epoch that begins at {@code from} ends: not past {@code until}, and not with more rows than allowed. */
  synchronized Map<Integer, Long> epochEnd(Map<Integer, Long> from, Map<Integer, Long> until) {
    if (rowsPerEpoch <= 0) {
      return until;
    }
    Map<Integer, Long> to = new TreeMap<>(until);
    to.replaceAll((partition, end) -> from.getOrDefault(partition, 0L));
    Map<Integer, Long> passed = new TreeMap<>();
    long taken = 0;
    for (int partition : order) {
      long offset = passed.merge(partition, 1L, Long::sum) - 1;
      if (offset >= from.getOrDefault(partition, 0L) && offset < until.getOrDefault(partition, 0L)) {
        if (taken == rowsPerEpoch) {
          break;
        }
        to.put(partition, offset + 1);
        taken++;
      }
    }
    return to;
  }

  synchronized Fed[] rows(int partition, long from, long to) {
    return partitions.get(partition).subList((int) from, (int) to).toArray(new Fed[0]);
  }
}
