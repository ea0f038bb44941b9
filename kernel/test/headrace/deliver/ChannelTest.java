package headrace.deliver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** Which partitions a task's rows go to. */
class ChannelTest {
  private static final int PARTITIONS = 3;

  /** The partitions of so many rows of one task and epoch, as they were chosen. */
  private static List<Integer> chosen(int task, long epoch, byte[] key, int rows) {
    Node node = new Node(0, "nowhere", 1);
    List<PartitionInfo> partitions = IntStream.range(0, PARTITIONS)
        .mapToObj(each -> new PartitionInfo("board", each, node, null, null)).toList();
    MockProducer<byte[], byte[]> producer = new MockProducer<>(
        new Cluster("c", List.of(node), partitions, Set.of(), Set.of()), true, new RoundRobinPartitioner(),
        new ByteArraySerializer(), new ByteArraySerializer());
    DeliverySpec spec = Specs.epoch("c", epoch);
    Channel channel = new Channel(new PooledProducer(ProducerKey.plain(spec), producer, null), spec, task);
    for (int row = 0; row < rows; row++) {
      channel.send(spec.outlets().get(2), key, new byte[] {1});
    }
    return producer.history().stream().map(ProducerRecord::partition).toList();
  }

  @Test
  void rowsWithoutAKeyGoWhereAReplaySendsThemAgain() {
    assertEquals(chosen(1, 7, null, 1_000), chosen(1, 7, null, 1_000));
  }

  @Test
  void rowsWithoutAKeyFillAllPartitionsAlike() {
    List<Integer> many = chosen(0, 0, null, 3_000);
    for (int partition = 0; partition < PARTITIONS; partition++) {
      assertTrue(Math.abs(Collections.frequency(many, partition) - 1_000) <= 64);
    }
    // One row an epoch, too; and two tasks at once.
    assertNotEquals(chosen(0, 0, null, 1), chosen(0, 1, null, 1));
    assertNotEquals(chosen(0, 0, null, 1), chosen(1, 0, null, 1));
  }

  @Test
  void aKeyChoosesItsPartitionItself() {
    assertNull(chosen(0, 0, new byte[] {5}, 1).get(0));
  }
}
