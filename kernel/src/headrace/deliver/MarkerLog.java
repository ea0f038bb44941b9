package headrace.deliver;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The markers of a pipeline: a compacted topic with a partition per task.
 *
 * <p>A task's partition is its own, so no other transaction can hide its last marker from a reader of
 * committed records.
 */
final class MarkerLog {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** The last record is a marker or ends an aborted transaction, so the tail nearly always has what we want. */
  private static final long TAIL = 100;

  private MarkerLog() {}

  /** The last marker of a task, or null. The caller has fenced everybody else who could write one. */
  static Marker last(ProducerKey key) {
    return last(key.clients(), key.markerTopic(), key.pipeline(), List.of(key.task())).get(key.task());
  }

  /** The last markers of tasks 0 to n-1; a task without one is absent. */
  static Map<Integer, Marker> all(ClientOptions clients, String topic, String pipeline, int tasks) {
    return last(clients, topic, pipeline, IntStream.range(0, tasks).boxed().toList());
  }

  private static Map<Integer, Marker> last(
      ClientOptions clients, String topic, String pipeline, Collection<Integer> tasks) {
    Map<Integer, Marker> found = new HashMap<>();
    try (Consumer<byte[], byte[]> consumer = consumer(clients)) {
      Set<TopicPartition> all =
          tasks.stream().map(task -> new TopicPartition(topic, task)).collect(Collectors.toSet());
      List<PartitionInfo> exist = consumer.partitionsFor(topic, PATIENCE);
      if (exist == null || exist.size() <= Collections.max(tasks)) {
        // Asked for offsets of what does not exist, the consumer would wait for it.
        throw new DeliveryException("topic " + topic + " with the markers of epochs does not exist, or has lost partitions",
            "start the pipeline again, which creates it");
      }
      Map<TopicPartition, Long> ends = consumer.endOffsets(all, PATIENCE);
      Map<TopicPartition, Long> begins = consumer.beginningOffsets(all, PATIENCE);
      for (long back = TAIL; ; back *= 100) {
        Map<TopicPartition, Long> starts = new HashMap<>();
        for (TopicPartition partition : all) {
          if (!found.containsKey(partition.partition()) && ends.get(partition) > begins.get(partition)) {
            starts.put(partition, Math.max(begins.get(partition), ends.get(partition) - back));
          }
        }
        if (starts.isEmpty()) {
          return found;
        }
        read(consumer, pipeline, starts, ends, found);
        starts.entrySet().removeIf(start -> start.getValue() > begins.get(start.getKey()));
        starts.keySet().forEach(all::remove); // read from its beginning: what is not found is not there
      }
    }
  }

  private static void read(
      Consumer<byte[], byte[]> consumer,
      String pipeline,
      Map<TopicPartition, Long> starts,
      Map<TopicPartition, Long> ends,
      Map<Integer, Marker> found) {
    consumer.assign(starts.keySet());
    starts.forEach(consumer::seek);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (starts.keySet().stream().anyMatch(each -> consumer.position(each, PATIENCE) < ends.get(each))) {
      if (System.nanoTime() > deadline) {
        throw new DeliveryException(
            "the markers in topic " + starts.keySet().iterator().next().topic() + " could not be read within "
                + PATIENCE.toSeconds() + " s",
            "check the brokers that lead its partitions");
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
        String id = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
        if (!id.equals(ProducerKey.transactionalId(pipeline, record.partition()))) {
          continue;
        }
        if (record.value() == null) {
          found.remove(record.partition());
        } else {
          found.put(record.partition(), Marker.parse(record.value()));
        }
      }
    }
  }

  private static Consumer<byte[], byte[]> consumer(ClientOptions clients) {
    try {
      return ClientOptions.opened(() -> new KafkaConsumer<>(
          clients.reader(), new ByteArrayDeserializer(), new ByteArrayDeserializer()));
    } catch (RuntimeException failure) {
      throw Failures.refusedOptions(failure, clients);
    }
  }
}
