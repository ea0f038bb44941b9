package headrace.deliver;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Producers at rest. A producer in use is not in the pool: a second attempt of a task that finds none opens
 * its own, which fences the first.
 */
final class ProducerPool {
  private final Function<ProducerKey, PooledProducer> opening;
  private final Map<ProducerKey, Deque<PooledProducer>> idle = new HashMap<>();
  private final Map<String, Long> closed = new HashMap<>();
  private long order;

  ProducerPool(Function<ProducerKey, PooledProducer> opening) {
    this.opening = opening;
  }

  /** A producer without transactions. */
  PooledProducer take(ProducerKey key) {
    PooledProducer found = poll(key);
    return found == null ? open(key) : found;
  }

  /** The producer of a task's transactions; a new one when the task may have run elsewhere meanwhile. */
  PooledProducer take(ProducerKey key, String checkpoint, long epoch) {
    PooledProducer found = poll(key);
    if (found != null && found.gap(checkpoint, epoch)) {
      found.close();
      found = null;
    }
    return found == null ? open(key) : found;
  }

  /** Says that the task ran here and had nothing to send. */
  synchronized void passed(ProducerKey key, String checkpoint, long epoch) {
    Deque<PooledProducer> resting = idle.get(key);
    if (resting != null && !resting.isEmpty() && !resting.peekLast().gap(checkpoint, epoch)) {
      resting.peekLast().seen = new Marker(checkpoint, epoch);
      resting.peekLast().idleSince = System.nanoTime();
    }
  }

  private synchronized PooledProducer poll(ProducerKey key) {
    Deque<PooledProducer> resting = idle.get(key);
    return resting == null ? null : resting.pollLast();
  }

  private PooledProducer open(ProducerKey key) {
    long number;
    synchronized (this) {
      number = ++order;
    }
    PooledProducer opened = opening.apply(key);
    opened.order = number;
    return opened;
  }

  /** Puts a producer back that is fit for the next epoch. */
  void give(PooledProducer producer) {
    List<PooledProducer> surplus = new ArrayList<>();
    synchronized (this) {
      Deque<PooledProducer> resting = idle.computeIfAbsent(producer.key, none -> new ArrayDeque<>());
      if (producer.order <= closed.getOrDefault(producer.key.pipeline(), 0L)) {
        surplus.add(producer);
      } else if (producer.key.transactionalId() != null && !resting.isEmpty()) {
        // Two attempts of one task: the one that was opened later has fenced the other.
        PooledProducer other = resting.pollLast();
        boolean newer = producer.order > other.order;
        resting.addLast(newer ? producer : other);
        surplus.add(newer ? other : producer);
      } else {
        producer.idleSince = System.nanoTime();
        resting.addLast(producer);
      }
    }
    surplus.forEach(PooledProducer::close);
  }

  /** Closes what a pipeline has here, and what it has in use as soon as that comes back. */
  int close(String pipeline) {
    synchronized (this) {
      closed.put(pipeline, order);
    }
    return close(each -> each.key.pipeline().equals(pipeline), Duration.ofSeconds(5));
  }

  int closeIdle(Duration longerThan) {
    long now = System.nanoTime();
    return close(each -> now - each.idleSince > longerThan.toNanos(), Duration.ofSeconds(5));
  }

  int closeAll(Duration within) {
    return close(each -> true, within);
  }

  private int close(java.util.function.Predicate<PooledProducer> which, Duration within) {
    List<PooledProducer> taken = new ArrayList<>();
    synchronized (this) {
      Iterator<Deque<PooledProducer>> queues = idle.values().iterator();
      while (queues.hasNext()) {
        Deque<PooledProducer> resting = queues.next();
        resting.removeIf(each -> which.test(each) && taken.add(each));
        if (resting.isEmpty()) {
          queues.remove();
        }
      }
    }
    taken.forEach(each -> each.close(within));
    return taken.size();
  }
}
