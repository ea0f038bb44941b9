package headrace.deliver;

import headrace.step.Ledger;
import headrace.view.Change;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * What one task of the deliver job does with its rows.
 *
 * <p>All rows are consumed, whatever happens to them: the operator's state store commits when its rows are.
 * The rows arrive sorted, so the first one shows that all results are computed; no transaction begins before.
 *
 * <p>A task without a row for an exactly-once outlet writes nothing at all, its marker included. Replayed, the
 * epoch gives that same nothing (rows reach the same task on replay), and since the marker only ever says
 * "up to this epoch", leaving an empty one out can make no later epoch look delivered and no delivered one look
 * open. It makes an empty epoch free.
 */
final class TaskDelivery {
  private final DeliverySpec spec;
  private final int task;
  private final ProducerPool pool;
  private final LongSupplier nanos;
  private final long[] counts;
  private final TreeMap<Integer, Ledger> ledger = new TreeMap<>();
  private final List<Change> changes = new ArrayList<>();
  private long bytes;
  private long began;
  private EpochTransaction transaction;
  private Channel plain;
  private boolean skipped;

  TaskDelivery(DeliverySpec spec, int task, ProducerPool pool, LongSupplier nanos) {
    this.spec = spec;
    this.task = task;
    this.pool = pool;
    this.nanos = nanos;
    this.counts = new long[spec.outlets().size()];
  }

  Summary run(Iterator<byte[]> rows, long attempt) {
    try {
      UnsafeRow row = new UnsafeRow(counts.length);
      boolean more = rows.hasNext();
      began = nanos.getAsLong();
      for (; more; more = rows.hasNext()) {
        byte[] packed = rows.next();
        row.pointTo(packed, packed.length);
        for (Outlet outlet : spec.outlets()) {
          if (!row.isNullAt(outlet.ordinal())) {
            counts[outlet.ordinal()]++;
            if (outlet.kind() == Outlet.Kind.LEDGER) {
              account(row.getStruct(outlet.ordinal(), 2).getBinary(1));
            } else if (outlet.kind() == Outlet.Kind.VIEW) {
              change(outlet, row.getStruct(outlet.ordinal(), 2));
            } else if (outlet.kind().sends()) {
              deliver(outlet, row.getStruct(outlet.ordinal(), 2));
            }
          }
        }
      }
      finish();
    } catch (RuntimeException | Error failure) {
      giveUp(failure);
      throw failure;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - began);
    return new Summary(task, attempt, skipped, counts, ledger, changes, millis, bytes);
  }

  private void account(byte[] line) {
    ledger.computeIfAbsent(Ledger.program(line), program -> new Ledger()).add(line);
  }

  /** Also of a task that has been delivered before: the driver may have died between the topics and the views. */
  private void change(Outlet outlet, UnsafeRow row) {
    Change change = new Change(outlet.ordinal(), row.getBinary(0), row.isNullAt(1) ? null : row.getBinary(1));
    bytes += change.key().length + (change.value() == null ? 0 : change.value().length);
    changes.add(change);
  }

  private void deliver(Outlet outlet, UnsafeRow row) {
    byte[] key = row.isNullAt(0) ? null : row.getBinary(0);
    byte[] value = row.isNullAt(1) ? null : row.getBinary(1);
    bytes += (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
    // Also ahead of a first at-least-once row: what the marker covers has been flushed before it was written.
    if (spec.exactlyOnce() && transaction == null) {
      transaction = new EpochTransaction(spec, task, pool.take(
          ProducerKey.transactional(spec, task), spec.checkpoint(), spec.epoch()), nanos);
      skipped = transaction.delivered();
    }
    if (skipped) {
      return;
    }
    if (outlet.kind() == Outlet.Kind.EXACTLY_ONCE) {
      transaction.send(outlet, key, value);
    } else {
      if (plain == null) {
        plain = new Channel(pool.take(ProducerKey.plain(spec)), spec, task);
      }
      plain.send(outlet, key, value);
    }
  }

  private void finish() {
    if (plain != null) {
      plain.flush();
      pool.give(plain.pooled());
      plain = null;
    }
    if (transaction != null) {
      transaction.commit();
      transaction.pooled().seen = new Marker(spec.checkpoint(), spec.epoch());
      pool.give(transaction.pooled());
      transaction = null;
    } else if (spec.exactlyOnce()) {
      pool.passed(ProducerKey.transactional(spec, task), spec.checkpoint(), spec.epoch());
    }
  }

  private void giveUp(Throwable failure) {
    if (transaction != null) {
      transaction.abandon(failure);
    }
    if (plain != null) {
      plain.pooled().close();
    }
  }
}
