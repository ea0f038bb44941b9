package headrace.deliver;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;

/** One producer at work for one task: sends rows and remembers the first that Kafka refused. */
final class Channel {
  private final PooledProducer pooled;
  private final Callback[] callbacks;
  private final AtomicReference<RuntimeException> refused = new AtomicReference<>();

  Channel(PooledProducer pooled, int outlets) {
    this.pooled = pooled;
    this.callbacks = new Callback[outlets];
  }

  PooledProducer pooled() {
    return pooled;
  }

  void send(Outlet outlet, byte[] key, byte[] value) {
    check();
    try {
      pooled.producer.send(new ProducerRecord<>(outlet.topic(), key, value), callback(outlet));
    } catch (RuntimeException failure) {
      throw explain(failure, outlet);
    }
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
