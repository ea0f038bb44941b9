package headrace.deliver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Who gets which producer. */
class ProducerPoolTest {
  private final Opened opened = new Opened();
  private final ProducerPool pool = new ProducerPool(opened);
  private final ProducerKey key = ProducerKey.transactional(Specs.epoch("c", 0), 0);

  private PooledProducer take(long epoch) {
    PooledProducer taken = pool.take(key, "c", epoch);
    taken.seen = new Marker("c", epoch);
    return taken;
  }

  @Test
  void aProducerInUseIsNotShared() {
    PooledProducer first = take(0);
    assertNotSame(first, take(0));
  }

  @Test
  void ofTwoAttemptsTheLaterOnesProducerStays() {
    PooledProducer first = take(0);
    PooledProducer second = take(0);
    pool.give(second);
    pool.give(first);
    assertTrue(opened.producers.get(0).closed());
    assertSame(second, take(1));
  }

  @Test
  void closingAPipelineReachesWhatIsInUse() {
    PooledProducer used = take(0);
    assertEquals(0, pool.close("fraud"));
    pool.give(used);
    assertTrue(opened.last().closed());
    pool.give(take(0));
    assertFalse(opened.last().closed());
  }

  @Test
  void otherPipelinesKeepTheirs() {
    pool.give(take(0));
    assertEquals(0, pool.close("other"));
    assertEquals(1, pool.close("fraud"));
  }

  @Test
  void whatRestsTooLongIsClosed() {
    pool.give(take(0));
    assertEquals(0, pool.closeIdle(Duration.ofHours(1)));
    assertEquals(1, pool.closeIdle(Duration.ofNanos(-1)));
  }
}
