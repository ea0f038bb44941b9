package headrace.deliver;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The transaction of one task and one epoch: its rows and its marker appear together, or never. */
final class EpochTransaction {
  private final DeliverySpec spec;
  private final int task;
  private final Channel channel;
  private final LongSupplier nanos;
  private long began;
  private boolean open;

  EpochTransaction(DeliverySpec spec, int task, PooledProducer pooled, LongSupplier nanos) {
    this.spec = spec;
    this.task = task;
    this.channel = new Channel(pooled, spec, task);
    this.nanos = nanos;
  }

  PooledProducer pooled() {
    return channel.pooled();
  }

  /**
   * Whether an earlier attempt has committed this epoch already. Every task of a history that was adopted has
   * its marker; where it is missing or another's, somebody has begun anew since, and we are the zombie.
   */
  boolean delivered() {
    Marker marker = pooled().marker;
    if (marker == null) {
      throw new DeliveryException(
          "pipeline " + spec.pipeline() + " task " + task + ": its marker is gone from topic " + spec.markerTopic()
              + ", so nobody can say whether epoch " + spec.epoch() + " was delivered",
          "begin anew, unless the pipeline was given up on purpose: headrace reset FILE");
    }
    if (!marker.checkpoint().equals(spec.checkpoint())) {
      throw new DeliveryException(
          "pipeline " + spec.pipeline() + " task " + task + ": another history (" + marker.checkpoint()
              + ") has taken over the topics of this one (" + spec.checkpoint() + ")",
          "stop one of the two runs; this one goes on only after headrace reset FILE");
    }
    return marker.epoch() >= spec.epoch();
  }

  /** Sends a row; the first one begins the transaction. */
  void send(Outlet outlet, byte[] key, byte[] value) {
    begin();
    try {
      channel.send(outlet, key, value);
    } catch (RuntimeException failure) {
      throw late(failure);
    }
  }

  private void begin() {
    if (open) {
      return;
    }
    try {
      pooled().producer.beginTransaction();
    } catch (RuntimeException failure) {
      throw channel.explain(failure, null);
    }
    began = nanos.getAsLong();
    open = true;
  }

  /** Commits rows and marker. Without a row there is no transaction and no marker, see {@link TaskDelivery}. */
  void commit() {
    if (!open) {
      return;
    }
    commit(new Marker(spec.checkpoint(), spec.epoch()));
  }

  /** Commits a marker, with the rows sent so far if there are any. */
  void commit(Marker marker) {
    begin();
    byte[] id = ProducerKey.transactionalId(spec.pipeline(), task).getBytes(StandardCharsets.UTF_8);
    try {
      channel.check();
      pooled().producer.send(new ProducerRecord<>(spec.markerTopic(), task, id, marker.bytes()));
      // Waits for the acknowledgements, so that the time is judged when all that is left is the commit.
      pooled().producer.flush();
      channel.check();
      if (elapsedMs() >= spec.transactionTimeoutMs()) {
        throw tooLong(null);
      }
      pooled().producer.commitTransaction();
    } catch (RuntimeException failure) {
      throw late(channel.explain(failure, null));
    }
    open = false;
    pooled().marker = marker;
  }

  /** A failure after the time is over is that of the time: the broker has ended the transaction by itself. */
  private RuntimeException late(RuntimeException failure) {
    return open && Failures.fenced(failure) && elapsedMs() >= spec.transactionTimeoutMs()
        ? tooLong(failure) : failure;
  }

  private DeliveryException tooLong(RuntimeException cause) {
    return new DeliveryException(
        "pipeline " + spec.pipeline() + " task " + task + ": the transaction of epoch " + spec.epoch() + " took "
            + elapsedMs() + " ms and may take " + spec.transactionTimeoutMs() + " ms",
        "raise delivery.transaction-timeout or lower the rows per epoch", cause);
  }

  private long elapsedMs() {
    return TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - began);
  }

  /** Gives the transaction up; the producer is closed with it and not used again. */
  void abandon(Throwable failure) {
    boolean answers = open && !Failures.fenced(failure) && !Failures.timedOut(failure)
        && !Thread.currentThread().isInterrupted();
    if (answers) {
      try {
        pooled().producer.abortTransaction();
      } catch (RuntimeException broken) {
        // Closing aborts too, and so does whoever uses the id next; the first failure is the one to tell.
      }
    }
    pooled().close();
  }
}
