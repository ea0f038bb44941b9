package headrace.deliver;

import java.time.Duration;
import org.apache.kafka.clients.producer.Producer;

/** A producer that lives longer than a task, with what it knows of the epochs that went through it. */
final class PooledProducer {
  private static final Duration CLOSING = Duration.ofSeconds(5);

  final ProducerKey key;
  final Producer<byte[], byte[]> producer;

  /** The task's last marker, true as long as the producer is not fenced; null when there is none. */
  Marker marker;

  /** The last epoch that this producer's task saw here, sent or empty; null before the first. */
  Marker seen;

  long order;
  long idleSince;

  PooledProducer(ProducerKey key, Producer<byte[], byte[]> producer, Marker marker) {
    this.key = key;
    this.producer = producer;
    this.marker = marker;
  }

  /**
   * Whether the task may have run on another executor since it ran here. It would have fenced this producer,
   * and we would learn it only from a failed transaction.
   */
  boolean gap(String checkpoint, long epoch) {
    return seen == null || !seen.checkpoint().equals(checkpoint)
        || (seen.epoch() != epoch - 1 && seen.epoch() != epoch);
  }

  /** Closes; a transaction that is still open is aborted if the broker answers in time. */
  void close() {
    close(CLOSING);
  }

  void close(Duration within) {
    // Kafka's close gives up at once on an interrupted thread, and would leave the transaction open.
    boolean interrupted = Thread.interrupted();
    try {
      producer.close(within);
    } catch (RuntimeException broken) {
      // It is thrown away in any case; why it broke was told by what failed before.
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
