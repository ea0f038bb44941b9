package headrace.deliver;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Opens producers that send nowhere, and keeps them to be looked at. */
final class Opened implements Function<ProducerKey, PooledProducer> {
  final List<MockProducer<byte[], byte[]>> producers = new ArrayList<>();

  /** What reading the markers finds: at first a history that was adopted and has delivered nothing. */
  Marker marker = new Marker("c", Marker.BEFORE_ALL);

  @Override
  public PooledProducer apply(ProducerKey key) {
    MockProducer<byte[], byte[]> producer =
        new MockProducer<>(true, new ByteArraySerializer(), new ByteArraySerializer());
    if (key.transactionalId() != null) {
      producer.initTransactions();
    }
    producers.add(producer);
    return new PooledProducer(key, producer, key.transactionalId() == null ? null : marker);
  }

  MockProducer<byte[], byte[]> last() {
    return producers.get(producers.size() - 1);
  }

  static List<String> values(MockProducer<byte[], byte[]> producer) {
    return producer.history().stream().map(ProducerRecord::value)
        .map(bytes -> new String(bytes, StandardCharsets.UTF_8)).toList();
  }
}
