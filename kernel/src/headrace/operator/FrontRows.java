package headrace.operator;

import headrace.aggregate.Position;
import headrace.clock.LaterTicks;
import headrace.clock.Maxima;
import headrace.state.ByteWriter;
import headrace.step.Program;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * What one map task sends to the operator: rows in full, and what was combined per key and slice.
 *
 * <p>The combined ones leave when all is read or when they fill their bound, whichever is first; the ledger's lines leave last.
 */
final class FrontRows implements Iterator<Row> {
  private static final int SOURCE = 0;
  private static final int PARTITION = 1;
  private static final int OFFSET = 2;
  private static final int EVENT_TIME = 3;

  private final Iterator<byte[]> packed;
  private final Maxima maxima;
  private final LayerSpec layer;
  private final Exit[] exits;
  private final Map<Integer, Combiner> combiners = new HashMap<>();
  private final Combiner[] all;
  private final UnsafeRow row;
  private final Position position = new Position();
  private final LocalMaxima local = new LocalMaxima();
  private final ByteWriter writer = new ByteWriter(1 << 16);
  private final ArrayDeque<Row> ready = new ArrayDeque<>();
  private int flushing;
  private Blobs blobs;
  private boolean read;

  /**
   * One exit of the packed row: to a combiner as one of its step's inputs, or to a port, or a tick; {@code counted} when it is a rejected
   * row of a step's.
   */
  private record Exit(int ordinal, Combiner combiner, int side, int port, boolean ticks, Combiner counted) {}

  FrontRows(LayerSpec layer, Iterator<byte[]> packed, Maxima maxima) {
    this.packed = packed;
    this.maxima = maxima;
    this.layer = layer;
    int fields = EVENT_TIME + 1;
    exits = new Exit[layer.exits().size()];
    for (int i = 0; i < exits.length; i++) {
      LayerSpec.Exit exit = layer.exits().get(i);
      fields = Math.max(fields, exit.ordinal() + 1);
      exits[i] = new Exit(exit.ordinal(), combiner(exit.program()), exit.side(), exit.port() == null ? 0 : exit.port(), exit.ticks(), combiner(exit.rejects()));
    }
    all = combiners.values().toArray(new Combiner[0]);
    flushing = all.length;
    row = new UnsafeRow(fields);
  }

  private Combiner combiner(Integer program) {
    return program == null ? null : combiners.computeIfAbsent(program, id -> new Combiner(layer.program(id)));
  }

  @Override
  public boolean hasNext() {
    while (true) {
      if (!ready.isEmpty() || blobs != null && blobs.hasNext()) {
        return true;
      }
      if (blobs != null) {
        all[flushing++].clear();
        blobs = null;
      }
      if (flushing < all.length) {
        blobs = all[flushing].blobs(writer);
        flushing += blobs == null ? 1 : 0;
      } else if (packed.hasNext()) {
        read(packed.next());
      } else if (!read) {
        read = true;
        if (maxima != null) {
          local.report(maxima);
        }
        for (Combiner combiner : all) {
          combiner.flush(ready);
        }
        for (Combiner combiner : all) {
          account(combiner);
        }
        flushing = 0;
      } else {
        return false;
      }
    }
  }

  @Override
  public Row next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return ready.isEmpty() ? blobs.next() : ready.poll();
  }

  private void read(byte[] bytes) {
    row.pointTo(bytes, bytes.length);
    position.at(0, row.getInt(SOURCE), row.getInt(PARTITION), row.getLong(OFFSET));
    if (!row.isNullAt(EVENT_TIME)) {
      local.observe(position.source, position.partition, position.offset, row.getLong(EVENT_TIME));
    }
    for (Exit exit : exits) {
      if (row.isNullAt(exit.ordinal)) {
        continue;
      }
      long where = row.getLong(exit.ordinal);
      int from = (int) (where >>> 32);
      int size = (int) where;
      if (exit.combiner != null) {
        exit.combiner.take(exit.side, row.getBaseObject(), row.getBaseOffset() + from, size, position, ready);
        if (exit.combiner.full()) {
          flushing = 0;
        }
      } else if (exit.ticks) {
        tick(Arrays.copyOfRange(bytes, from, from + size));
      } else {
        pass(exit.port, Arrays.copyOfRange(bytes, from, from + size));
      }
      if (exit.counted != null) {
        exit.counted.ledger().in++;
        exit.counted.ledger().rejected++;
      }
    }
  }

  /** The rows of one partition of a source stay together, so that their order can be kept. */
  private void pass(int port, byte[] payload) {
    int[] groups = layer.passGroups();
    int group = groups[Math.floorMod(31 * position.source + position.partition, groups.length)];
    ready.add(RowFactory.create(Inputs.PASS, group, Inputs.ROW, position.source, position.partition, position.offset, (long) port, payload));
  }

  /** Time goes on in this layer: a tick for every group, as the clock itself gives them to the first layer. */
  private void tick(byte[] payload) {
    Map<Integer, Long> watermarks = LaterTicks.read(payload);
    for (Program program : layer.programs()) {
      if (!program.isTimed()) {
        continue;
      }
      Long watermark = watermarks.get(program.id());
      if (watermark == null) {
        throw new IllegalStateException("the tick knows nothing of step '" + program.name() + "'");
      }
      for (int group : program.groups()) {
        ready.add(RowFactory.create(program.id(), group, Inputs.TICK, 0, 0, position.offset, watermark, null));
      }
    }
  }

  private void account(Combiner combiner) {
    if (!combiner.ledger().isEmpty()) {
      ready.add(RowFactory.create(Inputs.PASS, layer.passGroups()[0], Inputs.ROW, 0, 0, 0L, (long) Outputs.LEDGER,
          combiner.line()));
    }
  }
}
