package headrace.deliver;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;

/** One producer at work for one task: sends rows and remembers the first that Kafka refused. */
final class Channel {
  /** So many rows without a key go to one partition before the next: each alone would make a batch of its own. */
  private static final int ROWS_IN_TURN = 64;
  private static final int UNKNOWN = -1;

  private final PooledProducer pooled;
  private final long firstTurn;
  private final int[] partitions;
  private final long[] keyless;
  private final Callback[] callbacks;
  private final AtomicReference<RuntimeException> refused = new AtomicReference<>();

  Channel(PooledProducer pooled, DeliverySpec spec, int task) {
    this.pooled = pooled;
    int outlets = spec.outlets().size();
    // Moves on with the epoch: many small epochs fill all partitions alike.
    this.firstTurn = spec.epoch() + task;
    this.partitions = new int[outlets];
    Arrays.fill(partitions, UNKNOWN);
    this.keyless = new long[outlets];
    this.callbacks = new Callback[outlets];
  }

  PooledProducer pooled() {
    return pooled;
  }

  void send(Outlet outlet, byte[] key, byte[] value) {
    check();
    try {
      byte[] sent = outlet.rejected() ? RejectedRow.fitting(key, value, pooled.key.clients().mostBytes()) : value;
      pooled.producer.send(new ProducerRecord<>(outlet.topic(), partition(outlet, key), key, sent), callback(outlet));
    } catch (RuntimeException failure) {
      throw explain(failure, outlet);
    }
  }

  /** Null leaves it to the key. For rows without one Kafka draws lots, and a replay has to repeat the first run. */
  private Integer partition(Outlet outlet, byte[] key) {
    if (key != null) {
      return null;
    }
    int at = outlet.ordinal();
    if (partitions[at] == UNKNOWN) {
      partitions[at] = pooled.producer.partitionsFor(outlet.topic()).size();
    }
    long turn = firstTurn + keyless[at]++ / ROWS_IN_TURN;
    return partitions[at] == 0 ? null : (int) (turn % partitions[at]);
  }

  private Callback callback(Outlet outlet) {
    Callback known = callbacks[outlet.ordinal()];
    if (known == null) {
      known = (sent, failure) -> {
        if (failure != null) {
          RuntimeException unchecked =
              failure instanceof RuntimeException same ? same : new IllegalStateException(failure);
          refused.compareAndSet(null, Failures.explain(unchecked, pooled.key, outlet));
        }
      };
      callbacks[outlet.ordinal()] = known;
    }
    return known;
  }

  /** Throws what a row was refused for, if any was: it names the outlet, which later failures do not. */
  void check() {
    RuntimeException failure = refused.get();
    if (failure != null) {
      throw failure;
    }
  }

  void flush() {
    try {
      pooled.producer.flush();
    } catch (RuntimeException failure) {
      throw explain(failure, null);
    }
    check();
  }

  /** The reason that helps most: a refused row makes whatever comes after it fail too. */
  RuntimeException explain(RuntimeException failure, Outlet outlet) {
    RuntimeException first = refused.get();
    return first == null ? Failures.explain(failure, pooled.key, outlet) : first;
  }
}
