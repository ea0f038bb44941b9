package headrace.deliver;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The driver's hand on topics: makes sure that they exist, counts their partitions, empties them. */
public final class Topics implements AutoCloseable {
  /** Any value of a number that the broker is to choose. */
  public static final int BROKERS_CHOICE = -1;

  /** Small segments, so that compaction keeps up with a marker per epoch; the last one is never compacted. */
  private static final Map<String, String> MARKERS = Map.of(
      "cleanup.policy", "compact",
      "segment.bytes", "1048576",
      "segment.ms", "600000",
      "min.cleanable.dirty.ratio", "0.1");

  private final ClientOptions clients;
  private final Admin admin;

  /** Connects with any options of a Kafka client; those of producers are left out. */
  public Topics(Map<String, String> options) {
    this(new ClientOptions(options));
  }

  Topics(ClientOptions clients) {
    this.clients = clients;
    try {
      this.admin = ClientOptions.opened(() -> Admin.create(clients.admin()));
    } catch (RuntimeException failure) {
      throw Failures.refusedOptions(failure, clients);
    }
  }

  /**
   * Makes sure that a topic exists.
   *
   * @param partitions of the topic if it is created, {@link #BROKERS_CHOICE} for the broker's default
   * @param replication likewise
   * @return "existed" or "created"
   */
  public String ensure(
      String topic, int partitions, int replication, Map<String, String> config, boolean create) {
    if (partitions(topic) > 0) {
      return "existed";
    }
    if (!create) {
      throw new DeliveryException("topic " + topic + " does not exist",
          "create it; or set kafka.create-topics = true");
    }
    NewTopic wanted = new NewTopic(
        topic,
        partitions > 0 ? Optional.of(partitions) : Optional.empty(),
        replication > 0 ? Optional.of((short) replication) : Optional.empty());
    try {
      get("topic " + topic, admin.createTopics(List.of(wanted.configs(new HashMap<>(config)))).all());
    } catch (TopicExistsException meanwhile) {
      return "existed";
    }
    await(topic);
    return "created";
  }

  /** Makes sure that the topic of markers exists, with a partition per task and no other way of forgetting. */
  public String ensureMarkers(String topic, int partitions, int replication, boolean create) {
    String outcome = ensure(topic, partitions, replication, MARKERS, create);
    int found = partitions(topic);
    if (found != partitions) {
      throw new DeliveryException(
          "topic " + topic + " has " + found + " partitions and the pipeline's checkpoint " + partitions + " tasks",
          "a pipeline of another name, or delete the topic if its history is over");
    }
    String policy = cleanupPolicy(topic);
    if (policy != null && !policy.equals("compact")) {
      throw new DeliveryException("topic " + topic + " holds the markers of epochs and would lose them "
          + "(cleanup.policy = " + policy + ")", "set its cleanup.policy = compact");
    }
    return outcome;
  }

  /** The number of a topic's partitions, 0 when it does not exist. */
  public int partitions(String topic) {
    try {
      return describe(topic).partitions().size();
    } catch (UnknownTopicOrPartitionException missing) {
      return 0;
    }
  }

  /** Throws where {@link #truncate} would: asked while there is still nothing to regret. */
  public void refuseCompacted(String topic) {
    String policy = cleanupPolicy(topic);
    if (policy != null && !policy.contains("delete")) {
      throw compacted(topic, null);
    }
  }

  private static DeliveryException compacted(String topic, Throwable cause) {
    return new DeliveryException("topic " + topic + " is compacted, and Kafka empties no such topic",
        "append to it; or delete and create it", cause);
  }

  /**
   * Deletes all records of a topic, as a history that is to be replaced needs.
   *
   * @return how many offsets went: the records, and what Kafka writes of transactions between them
   */
  public long truncate(String topic) {
    Set<TopicPartition> all = new java.util.HashSet<>();
    describe(topic).partitions().forEach(each -> all.add(new TopicPartition(topic, each.partition())));
    Map<TopicPartition, Long> before = offsets(topic, all, OffsetSpec.earliest());
    Map<TopicPartition, RecordsToDelete> wanted = new HashMap<>();
    offsets(topic, all, OffsetSpec.latest()).forEach((partition, end) -> {
      if (end > before.get(partition)) {
        wanted.put(partition, RecordsToDelete.beforeOffset(end));
      }
    });
    try {
      get("topic " + topic, admin.deleteRecords(wanted).all());
    } catch (PolicyViolationException refused) {
      throw compacted(topic, refused);
    }
    return wanted.entrySet().stream()
        .mapToLong(each -> each.getValue().beforeOffset() - before.get(each.getKey())).sum();
  }

  /** The names of all topics that we may see, sorted; Kafka's internal ones are left out. */
  public List<String> list() {
    return List.copyOf(new TreeSet<>(get("topics", admin.listTopics().names())));
  }

  /** Ends whatever transaction the ids have open, and shuts out everybody who still uses them. */
  void fence(Collection<String> transactionalIds) {
    get("transactional ids " + transactionalIds, admin.fenceProducers(transactionalIds).all());
  }

  private Map<TopicPartition, Long> offsets(String topic, Set<TopicPartition> partitions, OffsetSpec which) {
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    partitions.forEach(each -> wanted.put(each, which));
    Map<TopicPartition, Long> found = new HashMap<>();
    get("topic " + topic, admin.listOffsets(wanted).all()).forEach((each, at) -> found.put(each, at.offset()));
    return found;
  }

  private TopicDescription describe(String topic) {
    return get("topic " + topic, admin.describeTopics(List.of(topic)).allTopicNames()).get(topic);
  }

  /** Null when we may not know. */
  private String cleanupPolicy(String topic) {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try {
      Config config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
      ConfigEntry policy = config.get("cleanup.policy");
      return policy == null ? null : policy.value();
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof AuthorizationException) {
        return null;
      }
      throw Failures.explain(Failures.opened(failure), clients, "topic " + topic, "headrace-");
    } catch (InterruptedException interrupted) {
      throw new InterruptException(interrupted);
    }
  }

  /** A created topic is known to the controller at once and to the brokers a little later. */
  private void await(String topic) {
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (partitions(topic) == 0) {
      if (System.nanoTime() > deadline) {
        throw new DeliveryException("topic " + topic + " was created and has not appeared within 30 s",
            "check the brokers");
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException interrupted) {
        throw new InterruptException(interrupted);
      }
    }
  }

  /** Waits; what callers handle themselves comes as Kafka's exception, the rest in our words. */
  private <T> T get(String where, KafkaFuture<T> future) {
    try {
      return future.get();
    } catch (InterruptedException interrupted) {
      throw new InterruptException(interrupted);
    } catch (ExecutionException wrapper) {
      RuntimeException failure = Failures.opened(wrapper);
      if (failure instanceof UnknownTopicOrPartitionException || failure instanceof TopicExistsException
          || failure instanceof PolicyViolationException) {
        throw failure;
      }
      throw Failures.explain(failure, clients, where, "headrace-");
    }
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(5));
  }
}
