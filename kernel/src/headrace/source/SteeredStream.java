package headrace.source;

import headrace.clock.Clock;
import headrace.clock.Feed;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.kafka010.KafkaIllegalStateException;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaSourceOffset;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** One running read of a topic: Spark's, with the rows of an epoch capped and the clock told where it stands. */
final class SteeredStream
    implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics, Feed {
  // In a bounded run the end is frozen; what the broker really holds only decides on silence.
  private static final long BOUNDED_FRESH_MILLIS = 200;
  // A topic that has been quiet is asked less often: the first row after that waits so long at most.
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long QUIET_FRESH_MILLIS = 40;

  private final KafkaMicroBatchStream kafka;
  private final Clock clock;
  private final Steering steering;
  private final Pace pace;
  private boolean bounded;

  /** Everything before this is processed; null until Spark says where the query is. */
  private Offset position;
  /** The end of the epoch that runs; it becomes the position when Spark asks again. */
  private Offset running;
  private long runningSince;
  /** What it took, the wait for the next trigger left out; below zero while it runs. */
  private long runningNanos = -1;
  private long runningRows;

  private Offset next;
  private boolean looked;
  private long lookedAt;
  private Map<Integer, Long> ends = Map.of();
  private long endsAt;
  private long quietSince;
  private long remoteCalls;

  SteeredStream(KafkaMicroBatchStream kafka, Clock clock, Steering steering) {
    this.kafka = kafka;
    this.clock = clock;
    this.steering = steering;
    this.pace = steering.pace();
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    bounded = true;
    kafka.prepareForTriggerAvailableNow();
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    // The limit moves from epoch to epoch, so Spark is given none and latestOffset applies it.
    return ReadLimit.allAvailable();
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    if (clock.frozen(this)) {
      clock.askedFrozen(steering.source());
      return start;
    }
    settle();
    if (position == null) {
      failOnLoss(start);
    }
    if (position == null || !position.json().equals(start.json())) {
      position = start;
      looked = false;
    }
    look();
    return clock.held(steering.source()) ? start : next;
  }

  @Override
  public void poll() {
    settle();
    if (position != null) {
      look();
    }
  }

  @Override
  public boolean started() {
    return position != null;
  }

  @Override
  public boolean behind() {
    if (position == null || !looked) {
      return false;
    }
    // What came after a bounded run began is not read in it, and must not hold another source back.
    Map<Integer, Long> until = bounded ? Offsets.of(kafka.reportLatestOffset()) : ends;
    return Offsets.rows(Offsets.of(next), until) > 0;
  }

  @Override
  public boolean exhausted() {
    if (!bounded || position == null || !looked) {
      return false;
    }
    Map<Integer, Long> processed = Offsets.of(position);
    return Offsets.of(kafka.reportLatestOffset()).entrySet().stream()
        .allMatch(end -> processed.getOrDefault(end.getKey(), -1L) >= end.getValue());
  }

  @Override
  public void epochEnded() {
    if (running != null) {
      runningNanos = System.nanoTime() - runningSince;
    }
  }

  /** The epoch that was planned is over, or this would not be asked. */
  private void settle() {
    if (running != null) {
      long nanos = runningNanos < 0 ? System.nanoTime() - runningSince : runningNanos;
      pace.adapt(runningRows, TimeUnit.NANOSECONDS.toMillis(nanos));
      if (position == null) {
        failOnLoss(running);
      }
      position = running;
      running = null;
      looked = false;
    }
  }

  private void look() {
    long now = System.nanoTime();
    if (looked && now - lookedAt < TimeUnit.MILLISECONDS.toNanos(freshMillis(now))) {
      return;
    }
    next = kafka.latestOffset(position, ReadLimit.maxRows(pace.rows()));
    remoteCalls++;
    if (!bounded) {
      ends = Offsets.of(kafka.reportLatestOffset());
    } else if (ends.isEmpty() || now - endsAt >= TimeUnit.MILLISECONDS.toNanos(BOUNDED_FRESH_MILLIS)) {
      ends = brokersEnds();
      endsAt = now;
    }
    boolean news = !looked || !next.json().equals(position.json());
    looked = true;
    lookedAt = System.nanoTime();
    if (news) {
      quietSince = lookedAt;
    }
    clock.report(steering.source(), clock.millis(), Offsets.positions(Offsets.of(position), ends));
  }

  private long freshMillis(long now) {
    boolean quiet = now - quietSince > QUIET_NANOS;
    return quiet ? Math.max(steering.freshMillis(), QUIET_FRESH_MILLIS) : steering.freshMillis();
  }

  private Map<Integer, Long> brokersEnds() {
    remoteCalls++;
    return byPartition(
        kafka.kafkaOffsetReader().fetchLatestOffsets(Option.apply(((KafkaSourceOffset) position).partitionToOffsets())));
  }

  /** Once per start: what retention took while nobody read is said plainly, before a task stumbles over it. */
  private void failOnLoss(Offset start) {
    if (!steering.failOnDataLoss()) {
      return;
    }
    // Typed as the plain Map: the immutable one's toSeq is ambiguous to the second compiler.
    scala.collection.Map<TopicPartition, Object> known = ((KafkaSourceOffset) start).partitionToOffsets();
    var partitions = scala.collection.immutable.List.from(known.keySet());
    Map<Integer, Long> earliest = byPartition(kafka.kafkaOffsetReader().fetchEarliestOffsets(partitions));
    Map<Integer, Long> wanted = Offsets.of(start);
    String lost =
        earliest.entrySet().stream()
            .filter(first -> first.getValue() > wanted.getOrDefault(first.getKey(), Long.MAX_VALUE))
            .map(first -> "partition " + first.getKey() + " goes on at offset " + wanted.get(first.getKey())
                + " and now begins at " + first.getValue())
            .collect(Collectors.joining(", "));
    if (!lost.isEmpty()) {
      throw new IllegalStateException(
          "Rows of topic " + steering.topic() + " were deleted by its retention before they were read: " + lost
              + ". To go on without them declare the topic with on_data_loss=\"continue\".");
    }
  }

  private static Map<Integer, Long> byPartition(scala.collection.immutable.Map<TopicPartition, Object> offsets) {
    Map<Integer, Long> byPartition = new HashMap<>();
    CollectionConverters.asJava(offsets).forEach((partition, offset) -> byPartition.put(partition.partition(), (Long) offset));
    return byPartition;
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    runningSince = System.nanoTime();
    runningNanos = -1;
    runningRows = Offsets.rows(Offsets.of(start), Offsets.of(end));
    running = end;
    try {
      return kafka.planInputPartitions(start, end);
    } catch (KafkaIllegalStateException gone) {
      throw new IllegalStateException(
          "Topic " + steering.topic() + " no longer holds what this query was going to read (deleted and made anew, or "
              + "cut by its retention): " + gone.getMessage()
              + " To go on without it declare the topic with on_data_loss=\"continue\"; reset the checkpoint to read the topic anew.",
          gone);
    }
  }

  @Override
  public Map<String, String> metrics(Optional<Offset> latestConsumedOffset) {
    Map<String, String> metrics = new HashMap<>(kafka.metrics(latestConsumedOffset));
    metrics.put("backlogRows", Long.toString(clock.backlog(steering.source())));
    metrics.put("rowsPerEpoch", Long.toString(pace.rows()));
    metrics.put("remoteCalls", Long.toString(remoteCalls));
    return metrics;
  }

  @Override
  public Offset latestOffset() {
    throw new UnsupportedOperationException("latestOffset(start, limit) is the one to call");
  }

  @Override
  public Offset reportLatestOffset() {
    return kafka.reportLatestOffset();
  }

  @Override
  public Offset initialOffset() {
    return kafka.initialOffset();
  }

  @Override
  public Offset deserializeOffset(String json) {
    return kafka.deserializeOffset(json);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return kafka.createReaderFactory();
  }

  @Override
  public void commit(Offset end) {
    kafka.commit(end);
  }

  @Override
  public void stop() {
    kafka.stop();
  }

  @Override
  public String toString() {
    return "headrace " + kafka;
  }
}
