package headrace.deliver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

/** What a task sends, skips and gives up, on producers that send nowhere. */
class TaskDeliveryTest {
  private final Opened opened = new Opened();
  private final ProducerPool pool = new ProducerPool(opened);
  private final AtomicLong nanos = new AtomicLong();

  private Summary deliver(DeliverySpec spec, Iterator<byte[]> rows) {
    return new TaskDelivery(spec, 0, pool, nanos::get).run(rows, 7);
  }

  private Summary deliver(long epoch, byte[]... rows) {
    return deliver(Specs.epoch("c", epoch), List.of(rows).iterator());
  }

  @Test
  void rowsAndMarkerShareOneTransaction() {
    Summary told = deliver(0, Packed.row("a", null, null), Packed.row("b", "late", null));
    assertArrayEquals(new long[] {2, 1, 0}, told.counts());
    assertEquals(4, told.bytes());
    assertEquals(1, opened.last().commitCount());
    assertEquals(List.of("a", "b", "{\"checkpoint\":\"c\",\"epoch\":0}"), Opened.values(opened.last()));
    assertEquals("headrace-fraud-0", new String(opened.last().history().get(2).key()));
    assertEquals(0, opened.last().history().get(2).partition());
  }

  @Test
  void theFirstRowIsPulledBeforeTheTransactionBegins() {
    List<String> order = new ArrayList<>();
    Iterator<byte[]> rows = List.of(Packed.row("a", null, null)).iterator();
    deliver(Specs.epoch("c", 0), new Iterator<>() {
      @Override
      public boolean hasNext() {
        order.add("pulled with " + opened.producers.size() + " producers");
        return rows.hasNext();
      }

      @Override
      public byte[] next() {
        return rows.next();
      }
    });
    assertEquals("pulled with 0 producers", order.get(0));
  }

  @Test
  void aMarkedEpochIsConsumedCountedAndNotSent() {
    opened.marker = new Marker("c", 3);
    Iterator<byte[]> rows = List.of(Packed.row("a", null, null), Packed.row(null, null, "b")).iterator();
    Summary told = deliver(Specs.epoch("c", 3), rows);
    assertTrue(told.skipped());
    assertFalse(rows.hasNext());
    assertArrayEquals(new long[] {1, 0, 1}, told.counts());
    assertTrue(opened.last().history().isEmpty());
  }

  @Test
  void anotherCheckpointsMarkerShutsTheTaskOut() {
    opened.marker = new Marker("other", -1);
    assertRefused("another history (other) has taken over");
  }

  @Test
  void withoutAMarkerNothingIsWritten() {
    opened.marker = null;
    assertRefused("its marker is gone");
  }

  private void assertRefused(String why) {
    DeliveryException told = assertThrows(DeliveryException.class, () -> deliver(0, Packed.row("a", null, "b")));
    assertTrue(told.getMessage().contains(why), told.getMessage());
    assertTrue(told.getMessage().contains("headrace reset FILE"), told.getMessage());
    assertTrue(opened.producers.stream().allMatch(each -> each.history().isEmpty() && each.closed()));
  }

  @Test
  void anEmptyEpochOpensNoProducer() {
    assertArrayEquals(new long[] {0, 1, 0}, deliver(0, Packed.row(null, "late", null)).counts());
    assertTrue(opened.producers.isEmpty());
  }

  @Test
  void theMarkerIsRememberedWithTheProducer() {
    deliver(0, Packed.row("a", null, null));
    assertTrue(deliver(0, Packed.row("a", null, null)).skipped());
    assertFalse(deliver(1, Packed.row("b", null, null)).skipped());
    assertEquals(1, opened.producers.size());
  }

  @Test
  void emptyEpochsKeepTheProducerAndMissedOnesDoNot() {
    deliver(0, Packed.row("a", null, null));
    deliver(1);
    deliver(2, Packed.row("b", null, null));
    assertEquals(1, opened.producers.size());
    deliver(4, Packed.row("c", null, null)); // epoch 3 ran elsewhere, and fenced ours
    assertEquals(2, opened.producers.size());
    assertTrue(opened.producers.get(0).closed());
  }

  @Test
  void whatSparkThrowsComesBackAsItIsAndNothingIsCommitted() {
    IllegalStateException boom = new IllegalStateException("boom");
    Iterator<byte[]> rows = new Iterator<>() {
      private int given;

      @Override
      public boolean hasNext() {
        return true;
      }

      @Override
      public byte[] next() {
        if (given++ == 2) {
          throw boom;
        }
        return Packed.row("a", null, "b");
      }
    };
    assertEquals(boom, assertThrows(IllegalStateException.class, () -> deliver(Specs.epoch("c", 0), rows)));
    assertTrue(opened.producers.stream().allMatch(MockProducer::closed));
    assertTrue(opened.producers.stream().allMatch(each -> each.commitCount() == 0));
    deliver(0, Packed.row("a", null, null));
    assertNotSame(opened.producers.get(0), opened.last());
  }

  @Test
  void aFencedProducerIsClosedAndNotUsedAgain() {
    deliver(0, Packed.row("a", null, null));
    opened.last().fenceProducer();
    DeliveryException told = assertThrows(DeliveryException.class, () -> deliver(1, Packed.row("b", null, null)));
    assertTrue(told.getMessage().contains("has taken over"), told.getMessage());
    assertTrue(told.getCause() instanceof ProducerFencedException);
    assertTrue(opened.last().closed());
    deliver(1, Packed.row("b", null, null));
    assertEquals(2, opened.producers.size());
  }

  @Test
  void afterACommitOfUnknownOutcomeTheMarkerIsReadAgain() {
    deliver(0, Packed.row("a", null, null));
    opened.last().commitTransactionException = new TimeoutException("no answer");
    assertThrows(DeliveryException.class, () -> deliver(1, Packed.row("b", null, null)));
    opened.marker = new Marker("c", 1); // the commit had arrived
    assertTrue(deliver(1, Packed.row("b", null, null)).skipped());
  }

  @Test
  void aTransactionThatOutlivesItsTimeIsNotCommitted() {
    Iterator<byte[]> rows = List.of(Packed.row("a", null, null), Packed.row("b", null, null)).iterator();
    DeliveryException told = assertThrows(DeliveryException.class, () -> deliver(Specs.epoch("c", 0),
        new Iterator<>() {
          @Override
          public boolean hasNext() {
            nanos.addAndGet(600_000_000L);
            return rows.hasNext();
          }

          @Override
          public byte[] next() {
            return rows.next();
          }
        }));
    assertTrue(told.getMessage().contains("cure: raise delivery.transaction-timeout"), told.getMessage());
    assertEquals(0, opened.last().commitCount());
  }
}
