package headrace.source;

import headrace.clock.Clock;
import headrace.clock.Feed;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.unsafe.types.UTF8String;

/** One running read of what was fed by hand; stands to the clock as a topic's read does. */
final class FedStream implements MicroBatchStream, SupportsTriggerAvailableNow, Feed {
  private final FedLog log;
  private final Clock clock;
  private final String source;
  private Map<Integer, Long> position;
  private Map<Integer, Long> running;
  private boolean bounded;
  private Map<Integer, Long> frozen;

  FedStream(FedLog log, Clock clock, String source) {
    this.log = log;
    this.clock = clock;
    this.source = source;
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    bounded = true;
    frozen = log.end();
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    if (clock.frozen(this)) {
      clock.askedFrozen(source);
      return start;
    }
    running = null;
    position = Offsets.of(start);
    look();
    return clock.held(source) ? start : new FedOffset(source, log.epochEnd(position, bounded ? frozen : log.end()));
  }

  @Override
  public void poll() {
    if (running != null) {
      position = running;
      running = null;
    }
    if (position != null) {
      look();
    }
  }

  private void look() {
    clock.report(source, clock.millis(), Offsets.positions(position, log.end()));
  }

  @Override
  public boolean started() {
    return position != null;
  }

  @Override
  public boolean behind() {
    if (position == null) {
      return false;
    }
    Map<Integer, Long> until = bounded ? frozen : log.end();
    return Offsets.rows(log.epochEnd(position, until), until) > 0;
  }

  @Override
  public boolean exhausted() {
    return bounded && position != null && Offsets.rows(position, frozen) == 0;
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    Map<Integer, Long> from = Offsets.of(start);
    Map<Integer, Long> to = Offsets.of(end);
    running = to;
    List<InputPartition> partitions = new ArrayList<>();
    to.forEach((partition, last) -> {
      long first = from.getOrDefault(partition, 0L);
      if (last > first) {
        partitions.add(new FedPartition(source, partition, first, log.rows(partition, first, last)));
      }
    });
    return partitions.toArray(new InputPartition[0]);
  }

  @Override
  public Offset latestOffset() {
    throw new UnsupportedOperationException("latestOffset(start, limit) is the one to call");
  }

  @Override
  public Offset reportLatestOffset() {
    return new FedOffset(source, log.end());
  }

  @Override
  public Offset initialOffset() {
    return new FedOffset(source, log.start());
  }

  @Override
  public Offset deserializeOffset(String json) {
    return new FedOffset(source, Offsets.parse(json));
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new FedReaders();
  }

  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {}

  @Override
  public String toString() {
    return "headrace fed by hand: " + log.source();
  }

  private static final class FedOffset extends Offset {
    private final String source;
    private final Map<Integer, Long> offsets;

    FedOffset(String source, Map<Integer, Long> offsets) {
      this.source = source;
      this.offsets = new TreeMap<>(offsets);
    }

    @Override
    public String json() {
      return offsets.entrySet().stream()
          .map(one -> "\"" + one.getKey() + "\":" + one.getValue())
          .collect(Collectors.joining(",", "{\"" + source + "\":{", "}}"));
    }
  }

  private record FedPartition(String source, int partition, long first, FedLog.Fed[] rows)
      implements InputPartition {}

  private static final class FedReaders implements PartitionReaderFactory, Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return new FedReader((FedPartition) partition);
    }
  }

  private static final class FedReader implements PartitionReader<InternalRow> {
    private static final int CREATE_TIME = 0;

    private final FedPartition partition;
    private int at = -1;

    FedReader(FedPartition partition) {
      this.partition = partition;
    }

    @Override
    public boolean next() {
      return ++at < partition.rows().length;
    }

    @Override
    public InternalRow get() {
      FedLog.Fed row = partition.rows()[at];
      return new GenericInternalRow(
          new Object[] {
            row.key(),
            row.value(),
            UTF8String.fromString(partition.source()),
            partition.partition(),
            partition.first() + at,
            row.timestampMillis() * 1_000,
            CREATE_TIME
          });
    }

    @Override
    public void close() {}
  }
}
