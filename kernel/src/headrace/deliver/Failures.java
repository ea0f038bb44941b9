package headrace.deliver;

import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Kafka's exceptions in our words: what failed, for which outlet, and what to do. */
final class Failures {
  private static final String CREATE = "create it, or set kafka.create-topics = true and start again";

  private Failures() {}

  /** An exception of Kafka's made into one of ours; any other comes back as it is. */
  static RuntimeException explain(RuntimeException failure, ProducerKey key, Outlet outlet) {
    String where = outlet == null
        ? "pipeline " + key.pipeline() + (key.markerTopic() == null ? "" : " (markers in " + key.markerTopic() + ")")
        : outlet.label();
    return explain(failure, key.clients(), where, "headrace-" + key.pipeline() + "-");
  }

  /** The same for a driver's call: {@code where} says what it was about. */
  static RuntimeException explain(RuntimeException failure, ClientOptions clients, String where, String idPrefix) {
    if (failure instanceof DeliveryException || failure instanceof InterruptException) {
      return failure;
    }
    for (Throwable at = failure; at != null; at = at.getCause()) {
      String[] text = words(at, clients, where, idPrefix);
      if (text != null) {
        return new DeliveryException(text[0], text[1], failure);
      }
    }
    if (failure instanceof KafkaException) {
      return new DeliveryException(
          where + ": " + clients.redact(failure.getClass().getSimpleName() + ": " + failure.getMessage()),
          "see the broker's log; a retry is safe", failure);
    }
    return failure;
  }

  /** A checked wrapper of Kafka's futures, opened. */
  static RuntimeException opened(ExecutionException wrapper) {
    return wrapper.getCause() instanceof RuntimeException cause ? cause : new KafkaException(wrapper.getCause());
  }

  /** Options that Kafka refused. Its own exception is left out: it may quote a secret. */
  static DeliveryException refusedOptions(RuntimeException failure, ClientOptions clients) {
    Throwable deepest = failure;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    String told = clients.redact(deepest.getMessage());
    if (deepest instanceof ConfigException && told.contains("bootstrap")) {
      return new DeliveryException("no Kafka broker is known by the name " + clients.servers() + " (" + told + ")",
          "correct kafka.bootstrap");
    }
    return new DeliveryException("Kafka's client refused its options (" + told + ")", "correct the kafka options");
  }

  static boolean fenced(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof ProducerFencedException || at instanceof InvalidProducerEpochException
          || at instanceof InvalidPidMappingException) {
        return true;
      }
    }
    return false;
  }

  static boolean timedOut(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof TimeoutException) {
        return true;
      }
    }
    return false;
  }

  private static String[] words(Throwable at, ClientOptions clients, String where, String idPrefix) {
    String told = clients.redact(at.getMessage());
    if (fenced(at)) {
      return text(where + ": another attempt or run with transactional ids " + idPrefix + "* has taken over",
          "none if Spark tries the task again; else stop the other run or give the pipelines different names");
    }
    if (at instanceof AuthenticationException) {
      return text(where + ": Kafka at " + clients.servers() + " refused our credentials (" + told + ")",
          "check the security.*, sasl.* and ssl.* options of kafka");
    }
    if (at instanceof TransactionalIdAuthorizationException) {
      return text(where + ": not allowed to use transactional ids " + idPrefix + "*",
          "grant WRITE and DESCRIBE on transactional ids with that prefix, or choose at-least-once");
    }
    if (at instanceof TopicAuthorizationException denied) {
      return text(where + ": not allowed to use topics " + denied.unauthorizedTopics(),
          "grant WRITE and DESCRIBE on them, and READ on the topic of markers");
    }
    if (at instanceof ClusterAuthorizationException) {
      return text(where + ": the cluster refused the request (" + told + ")",
          "grant IDEMPOTENT_WRITE, and CREATE if topics are to be created");
    }
    if (at instanceof RecordTooLargeException) {
      return text(where + ": a row is too large (" + told + ")",
          "raise max.request.size and the topic's max.message.bytes, or send fewer columns");
    }
    if (at instanceof InvalidRecordException) {
      return text(where + ": the topic refused a row (" + told + ")",
          "a compacted topic needs a key in every row");
    }
    if (at instanceof InvalidTxnTimeoutException) {
      return text(where + ": the broker allows no transaction that long",
          "lower delivery.transaction-timeout or raise the broker's transaction.max.timeout.ms");
    }
    if (at instanceof InvalidTopicException) {
      return text(where + ": Kafka refuses the name of the topic (" + told + ")",
          "use letters, digits, '.', '_' and '-'");
    }
    if (at instanceof UnknownTopicOrPartitionException) {
      return text(where + ": the topic or a partition of it does not exist (" + told + ")", CREATE);
    }
    if (at instanceof TimeoutException && told.contains("not present in metadata")) {
      // Kafka says the same of a missing topic and of a broker that does not answer.
      return text(where + ": the topic does not exist, or Kafka at " + clients.servers() + " does not answer ("
          + told + ")", CREATE);
    }
    if (at instanceof NotEnoughReplicasException) {
      return text(where + ": too few replicas are in sync", "bring the brokers back, or lower min.insync.replicas");
    }
    if (at instanceof TimeoutException) {
      return text(where + ": no answer from Kafka at " + clients.servers() + " in time (" + told + ")",
          "check that the brokers run and that kafka.bootstrap is right");
    }
    return null;
  }

  private static String[] text(String what, String cure) {
    return new String[] {what, cure};
  }
}
