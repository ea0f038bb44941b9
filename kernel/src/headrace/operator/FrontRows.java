package headrace.operator;

import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.clock.EpochWatermarks;
import headrace.clock.Maxima;
import headrace.state.ByteWriter;
import headrace.step.Program;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * What one map task sends to the operator: rows that may be late in full, all others combined per key and window.
 *
 * <p>The combined ones leave when all is read or when they fill their bound, whichever is first.
 */
final class FrontRows implements Iterator<Row> {
  private static final int SOURCE = 0;
  private static final int PARTITION = 1;
  private static final int OFFSET = 2;
  private static final int EVENT_TIME = 3;
  private static final int BOUND_ENTRIES = 200_000;
  private static final long BOUND_BYTES = 64L << 20;

  private final Iterator<byte[]> packed;
  private final Maxima maxima;
  private final int[] passGroups;
  private final Exit[] exits;
  private final Combiner[] combiners;
  private final UnsafeRow row;
  private final Position position = new Position();
  private final LocalMaxima local = new LocalMaxima();
  private final ByteWriter writer = new ByteWriter(1 << 16);
  private final ArrayDeque<Row> ready = new ArrayDeque<>();
  private int flushing;
  private Blobs blobs;
  private boolean observed;

  /** One exit of the packed row: to a combiner, or to a port when it has none. */
  private record Exit(int ordinal, Combiner combiner, int port) {}

  /** Combines the rows of one program. */
  private static final class Combiner {
    final Program program;
    final Partials partials;
    final long watermark;
    final UnsafeRow exit = new UnsafeRow(Program.EXIT_FIELDS);
    final UnsafeRow key;
    final UnsafeRow inputs;

    Combiner(Program program) {
      this.program = program;
      partials = new Partials(headrace.aggregate.Layout.of(program.aggregates()), 1024);
      watermark = EpochWatermarks.of(program.id());
      key = new UnsafeRow(program.key().size());
      inputs = new UnsafeRow(program.inputs().size());
    }

    boolean full() {
      return partials.size() >= BOUND_ENTRIES || partials.bytes() >= BOUND_BYTES;
    }
  }

  FrontRows(LayerSpec layer, Iterator<byte[]> packed, Maxima maxima) {
    this.packed = packed;
    this.maxima = maxima;
    passGroups = layer.passGroups();
    Map<Integer, Combiner> byProgram = new HashMap<>();
    int fields = EVENT_TIME + 1;
    exits = new Exit[layer.exits().size()];
    for (int i = 0; i < exits.length; i++) {
      LayerSpec.Exit exit = layer.exits().get(i);
      fields = Math.max(fields, exit.ordinal() + 1);
      Combiner combiner = exit.program() == null ? null
          : byProgram.computeIfAbsent(exit.program(), id -> new Combiner(layer.program(id)));
      exits[i] = new Exit(exit.ordinal(), combiner, exit.port() == null ? 0 : exit.port());
    }
    combiners = byProgram.values().toArray(new Combiner[0]);
    flushing = combiners.length;
    row = new UnsafeRow(fields);
  }

  @Override
  public boolean hasNext() {
    while (true) {
      if (!ready.isEmpty() || blobs != null && blobs.hasNext()) {
        return true;
      }
      if (blobs != null) {
        combiners[flushing++].partials.clear();
        blobs = null;
      }
      if (flushing < combiners.length) {
        blobs = new Blobs(combiners[flushing].program, combiners[flushing].partials, writer);
      } else if (packed.hasNext()) {
        read(packed.next());
      } else if (!observed) {
        observed = true;
        local.report(maxima);
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
      if (exit.combiner == null) {
        pass(exit.port, bytes, from, size);
      } else {
        take(exit.combiner, from, size);
      }
    }
  }

  /** The rows of one partition of a source stay together, so that their order can be kept. */
  private void pass(int port, byte[] bytes, int from, int size) {
    int group = passGroups[Math.floorMod(31 * position.source + position.partition, passGroups.length)];
    ready.add(RowFactory.create(Inputs.PASS, group, Inputs.ROW, position.source, position.partition, position.offset, (long) port,
        java.util.Arrays.copyOfRange(bytes, from, from + size)));
  }

  private void take(Combiner combiner, int from, int size) {
    Program program = combiner.program;
    UnsafeRow exit = combiner.exit;
    exit.pointTo(row.getBaseObject(), row.getBaseOffset() + from, size);
    if (exit.isNullAt(Program.EXIT_TIME)) {
      throw new IllegalStateException("a row without an event time came to the window of step '" + program.name() + "' (source "
          + position.source + ", partition " + position.partition + ", offset " + position.offset + ")");
    }
    long time = exit.getLong(Program.EXIT_TIME);
    position.time = time;
    point(combiner.key, exit, Program.EXIT_KEY);
    int hash = Partials.hash(combiner.key.getBaseObject(), combiner.key.getBaseOffset(), combiner.key.getSizeInBytes());
    if (program.window().end(time) <= combiner.watermark) {
      ready.add(RowFactory.create(program.id(), program.groups()[program.slot(hash)], Inputs.ROW, position.source, position.partition,
          position.offset, time, exit.copy().getBytes()));
      return;
    }
    point(combiner.inputs, exit, Program.EXIT_INPUTS);
    combiner.partials.add(program.window().start(time), hash, combiner.key, combiner.inputs, position);
    if (combiner.full()) {
      flushing = 0;
    }
  }

  /** Points a reused row at a struct, where {@code getStruct} would allocate one. */
  private static void point(UnsafeRow at, UnsafeRow parent, int ordinal) {
    long where = parent.getLong(ordinal);
    at.pointTo(parent.getBaseObject(), parent.getBaseOffset() + (int) (where >>> 32), (int) where);
  }
}
