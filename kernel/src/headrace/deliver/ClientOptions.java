package headrace.deliver;

import java.io.Serializable;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/** The user's Kafka options, made into the options of our clients; what would break the guarantee is refused. */
final class ClientOptions implements Serializable {
  private static final long serialVersionUID = 1;
  private static final int BLOCKED_MS = 30_000;
  /** Kafka's default of max.request.size. */
  private static final int MOST_BYTES = 1_048_576;
  private static final Set<String> OURS = Set.of(
      ProducerConfig.TRANSACTIONAL_ID_CONFIG,
      ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
      ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
  private static final String TWO_PHASE = "transaction.two.phase.commit.enable";

  private final TreeMap<String, String> options;

  ClientOptions(Map<String, String> options) {
    this.options = new TreeMap<>(options);
    check();
  }

  private void check() {
    if (servers().isBlank()) {
      throw new IllegalArgumentException("Kafka option 'bootstrap.servers' is missing");
    }
    for (String name : OURS) {
      refuse(name, options.containsKey(name), "headrace sets it itself");
    }
    refuse(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, options.containsKey(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG),
        "set delivery.transaction-timeout instead");
    String acks = options.getOrDefault(ProducerConfig.ACKS_CONFIG, "all");
    refuse(ProducerConfig.ACKS_CONFIG, !acks.equals("all") && !acks.equals("-1"),
        "an acknowledged row could be lost; only 'all' is allowed");
    refuse(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, is(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "false"),
        "a retried send could write a row twice; only 'true' is allowed");
    refuse(ProducerConfig.RETRIES_CONFIG, is(ProducerConfig.RETRIES_CONFIG, "0"),
        "idempotent producers must retry; give 1 or more");
    refuse(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, inFlight() > 5,
        "rows could change their order; at most 5 are allowed");
    refuse(TWO_PHASE, is(TWO_PHASE, "true"), "a dead task's transaction would stay open");
  }

  private boolean is(String name, String value) {
    return value.equalsIgnoreCase(options.getOrDefault(name, "").trim());
  }

  private int inFlight() {
    try {
      return Integer.parseInt(options.getOrDefault(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "5").trim());
    } catch (NumberFormatException notOurs) {
      return 0; // Kafka's own check words it better
    }
  }

  private static void refuse(String name, boolean broken, String why) {
    if (broken) {
      throw new IllegalArgumentException(
          "Kafka option '" + name + "' would break the delivery guarantee: " + why + "; cure: remove it");
    }
  }

  String servers() {
    return options.getOrDefault(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, "");
  }

  /** For an idempotent producer, or a transactional one when an id is given. */
  Properties producer(String transactionalId, int transactionTimeoutMs) {
    Properties properties = new Properties();
    properties.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
    properties.put(ProducerConfig.LINGER_MS_CONFIG, "5");
    properties.put(ProducerConfig.BATCH_SIZE_CONFIG, "131072");
    properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, Integer.toString(BLOCKED_MS));
    properties.put(ProducerConfig.ENABLE_METRICS_PUSH_CONFIG, "false");
    // A send that is still tried when its transaction is over can only fail later and less clearly.
    int request = Math.max(1_000, Math.min(30_000, transactionTimeoutMs / 2));
    properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Integer.toString(request));
    properties.putAll(options);
    if (!options.containsKey(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)) {
      long least = number(properties, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG)
          + number(properties, ProducerConfig.LINGER_MS_CONFIG);
      properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
          Long.toString(Math.min(Integer.MAX_VALUE, Math.max(transactionTimeoutMs, least))));
    }
    properties.put(ProducerConfig.ACKS_CONFIG, "all");
    properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
    if (transactionalId != null) {
      properties.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactionalId);
      properties.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, Integer.toString(transactionTimeoutMs));
    }
    return properties;
  }

  private static long number(Properties properties, String name) {
    try {
      return Long.parseLong(properties.getProperty(name).trim());
    } catch (NumberFormatException notOurs) {
      return 0; // Kafka's own check words it better
    }
  }

  /** What one record may weigh, by the producer's own limit. */
  int mostBytes() {
    Properties chosen = new Properties();
    chosen.putAll(options);
    long most = chosen.containsKey(ProducerConfig.MAX_REQUEST_SIZE_CONFIG)
        ? number(chosen, ProducerConfig.MAX_REQUEST_SIZE_CONFIG) : MOST_BYTES;
    return (int) Math.min(Integer.MAX_VALUE, most);
  }

  /** For a reader of markers: assigned by hand, in no group, sees only what was committed. */
  Properties reader() {
    Properties properties = shared(ConsumerConfig.configNames());
    properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
    properties.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
    properties.remove(ConsumerConfig.GROUP_PROTOCOL_CONFIG);
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    // A missing topic of markers is an error, not a topic with the broker's default of partitions.
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
    properties.put(ConsumerConfig.ENABLE_METRICS_PUSH_CONFIG, "false");
    return properties;
  }

  Properties admin() {
    Properties properties = shared(AdminClientConfig.configNames());
    properties.put(AdminClientConfig.ENABLE_METRICS_PUSH_CONFIG, "false");
    return properties;
  }

  /** Options that another client understands too, and what no client knows: a login module may read that. */
  private Properties shared(Set<String> known) {
    Properties properties = new Properties();
    options.forEach((name, value) -> {
      if (known.contains(name) || !ProducerConfig.configNames().contains(name)) {
        properties.put(name, value);
      }
    });
    // These mean a producer's classes and ids, also where a consumer has options of the same name.
    properties.remove(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG);
    properties.remove(ProducerConfig.CLIENT_ID_CONFIG);
    long request = options.containsKey(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG)
        ? number(properties, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG) : 0;
    properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(Math.max(BLOCKED_MS, request)));
    if (request == 0) {
      properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "15000");
    }
    return properties;
  }

  /**
   * Opens a client. Kafka looks its classes up by name in the thread's loader, and neither a thread of py4j nor
   * one of a pool has to know the jars that were added to Spark.
   */
  static <T> T opened(Supplier<T> opening) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(ClientOptions.class.getClassLoader());
    try {
      return opening.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /** A text of Kafka's own, without the secrets that it may quote. */
  String redact(String text) {
    String clean = text == null ? "" : text;
    for (Map.Entry<String, String> option : options.entrySet()) {
      if (secret(option.getKey()) && !option.getValue().isBlank()) {
        clean = clean.replace(option.getValue(), "***");
      }
    }
    return clean;
  }

  private static boolean secret(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.contains("password") || lower.contains("secret") || lower.contains("jaas")
        || lower.contains("token") || lower.contains("credential") || lower.endsWith(".key")
        || lower.contains("user.info");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ClientOptions that && options.equals(that.options);
  }

  @Override
  public int hashCode() {
    return options.hashCode();
  }

  @Override
  public String toString() {
    return servers() + " (" + options.size() + " options)";
  }
}
