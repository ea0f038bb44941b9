package headrace.deliver;

import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** This JVM's pool of producers: opening one costs a round of requests, and a second on a cold broker. */
public final class Producers {
  private static final Duration IDLE = Duration.ofMinutes(5);

  static final ProducerPool POOL = new ProducerPool(Producers::open);

  static {
    Runtime.getRuntime().addShutdownHook(
        new Thread(() -> POOL.closeAll(Duration.ofMillis(500)), "headrace-producers-shutdown"));
    Executors.newSingleThreadScheduledExecutor(work -> {
      Thread sweeper = new Thread(work, "headrace-producers-idle");
      sweeper.setDaemon(true);
      return sweeper;
    }).scheduleWithFixedDelay(() -> POOL.closeIdle(IDLE), 1, 1, TimeUnit.MINUTES);
  }

  private Producers() {}

  /** Closes the producers that a pipeline has in this JVM; those of executors close when idle. */
  public static int close(String pipeline) {
    return POOL.close(pipeline);
  }

  private static PooledProducer open(ProducerKey key) {
    String id = key.transactionalId();
    Producer<byte[], byte[]> producer = create(key.clients(), id, key.transactionTimeoutMs());
    if (id == null) {
      return new PooledProducer(key, producer, null);
    }
    try {
      // First fence, then read: after this no older attempt can add a marker.
      producer.initTransactions();
      return new PooledProducer(key, producer, MarkerLog.last(key));
    } catch (RuntimeException failure) {
      new PooledProducer(key, producer, null).close(Duration.ZERO);
      throw Failures.explain(failure, key, null);
    }
  }

  private static Producer<byte[], byte[]> create(ClientOptions clients, String id, int transactionTimeoutMs) {
    Properties properties = clients.producer(id, transactionTimeoutMs);
    try {
      return ClientOptions.opened(
          () -> new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer()));
    } catch (RuntimeException failure) {
      throw Failures.refusedOptions(failure, clients);
    }
  }
}
