package headrace.deliver;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Whose epochs are in the topics: what the driver does with the markers before a run begins.
 *
 * <p>A history is what one checkpoint has delivered. At a start the driver looks whose markers are there, and
 * only if they may be ours it fences, which ends the open transactions of a dead run, and looks again. It adopts the topics for a new history by
 * marking every task as "nothing delivered yet", so from then on all tasks' markers carry one checkpoint id:
 * any other id means that somebody else has written since, and none at all means that the markers were lost.
 * Both are the driver's to ask about. All calls take the JSON of {@link DeliverySpec}; its epoch is not used.
 */
public final class Histories {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int OPENING = 8;

  private Histories() {}

  /**
   * Tells whose markers there are; whoever runs goes on undisturbed.
   *
   * @return {@code {"checkpoints": {id: last epoch}, "lastEpoch": that of the spec's own checkpoint or null,
   *     "others": [ids], "unmarked": [tasks]}}; epoch -1 is a history that was adopted and has delivered nothing
   */
  public static String look(String spec) {
    DeliverySpec parsed = DeliverySpec.parse(spec);
    return tell(parsed, read(parsed)).toString();
  }

  /** Shuts out the pipeline's earlier runs; after that the answer, which is that of a look, stays true. */
  public static String fence(String spec) {
    DeliverySpec parsed = DeliverySpec.parse(spec);
    Producers.close(parsed.pipeline());
    if (parsed.exactlyOnce()) {
      try (Topics topics = new Topics(parsed.clients())) {
        topics.fence(tasks(parsed).stream()
            .map(task -> ProducerKey.transactionalId(parsed.pipeline(), task)).toList());
      }
    }
    return tell(parsed, read(parsed)).toString();
  }

  private static Map<Integer, Marker> read(DeliverySpec spec) {
    if (!spec.exactlyOnce()) {
      return Map.of();
    }
    try {
      return MarkerLog.all(spec.clients(), spec.markerTopic(), spec.pipeline(), spec.partitions());
    } catch (RuntimeException failure) {
      throw Failures.explain(failure, ProducerKey.transactional(spec, 0), null);
    }
  }

  private static ObjectNode tell(DeliverySpec spec, Map<Integer, Marker> markers) {
    Map<String, Long> last = new TreeMap<>();
    markers.values().forEach(marker -> last.merge(marker.checkpoint(), marker.epoch(), Math::max));
    ObjectNode json = JSON.createObjectNode();
    ObjectNode checkpoints = json.putObject("checkpoints");
    last.forEach(checkpoints::put);
    json.put("lastEpoch", last.get(spec.checkpoint()));
    TreeSet<String> others = new TreeSet<>(last.keySet());
    others.remove(spec.checkpoint());
    others.forEach(json.putArray("others")::add);
    tasks(spec).stream().filter(task -> !markers.containsKey(task)).forEach(json.putArray("unmarked")::add);
    return json;
  }

  /**
   * Begins the history of the spec's checkpoint: every task that it has not marked is marked as having
   * delivered nothing yet. What other histories have delivered stays; {@link Topics#truncate} comes first if it
   * is to be replaced. Dying half-way leaves markers of two histories; adopting again completes it.
   */
  public static void adopt(String spec) {
    DeliverySpec parsed = DeliverySpec.parse(spec);
    if (parsed.exactlyOnce()) {
      Marker begun = new Marker(parsed.checkpoint(), Marker.BEFORE_ALL);
      // Threads of its own: opening a producer waits for the broker, and the JVM's common pool is not for that.
      ExecutorService opening = Executors.newFixedThreadPool(Math.min(OPENING, parsed.partitions()));
      try {
        List<Future<?>> adopted = new ArrayList<>();
        tasks(parsed).forEach(task -> adopted.add(opening.submit(() -> adopt(parsed, task, begun))));
        for (Future<?> each : adopted) {
          each.get();
        }
      } catch (InterruptedException interrupted) {
        throw new InterruptException(interrupted);
      } catch (ExecutionException failure) {
        throw Failures.opened(failure);
      } finally {
        opening.shutdown();
      }
    }
  }

  private static void adopt(DeliverySpec spec, int task, Marker begun) {
    // What it opens stays in the pool: on a local master the first epoch finds it there.
    PooledProducer pooled =
        Producers.POOL.take(ProducerKey.transactional(spec, task), begun.checkpoint(), begun.epoch());
    EpochTransaction transaction = new EpochTransaction(spec, task, pooled, System::nanoTime);
    try {
      // Nothing lowers a marker of this history: it may have delivered an epoch before it was killed.
      if (pooled.marker == null || !pooled.marker.checkpoint().equals(begun.checkpoint())) {
        transaction.commit(begun);
      }
    } catch (RuntimeException failure) {
      transaction.abandon(failure);
      throw failure;
    }
    pooled.seen = begun;
    Producers.POOL.give(pooled);
  }

  /** Deletes the pipeline's markers, for one that will not run again; its topics keep what was delivered. */
  public static void forget(String spec) {
    DeliverySpec parsed = DeliverySpec.parse(spec);
    fence(spec);
    if (parsed.exactlyOnce()) {
      PooledProducer pooled = Producers.POOL.take(ProducerKey.plain(parsed));
      try {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int task : tasks(parsed)) {
          byte[] id = ProducerKey.transactionalId(parsed.pipeline(), task).getBytes(StandardCharsets.UTF_8);
          sent.add(pooled.producer.send(new ProducerRecord<>(parsed.markerTopic(), task, id, null)));
        }
        pooled.producer.flush();
        for (Future<RecordMetadata> each : sent) {
          each.get();
        }
      } catch (InterruptedException interrupted) {
        throw new InterruptException(interrupted);
      } catch (ExecutionException failure) {
        throw Failures.explain(Failures.opened(failure), pooled.key, null);
      } catch (RuntimeException failure) {
        throw Failures.explain(failure, pooled.key, null);
      } finally {
        pooled.close();
      }
    }
  }

  private static List<Integer> tasks(DeliverySpec spec) {
    return IntStream.range(0, spec.partitions()).boxed().toList();
  }
}
