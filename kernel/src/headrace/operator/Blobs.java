package headrace.operator;

import headrace.aggregate.Partials;
import headrace.state.ByteWriter;
import headrace.step.Program;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/** A program's combined events as operator input: few rows of many partials, each of one group and one window, of bounded size. */
final class Blobs implements Iterator<Row> {
  private static final int BOUND = 256 << 10;

  private final Program program;
  private final Partials partials;
  private final ByteWriter out;
  private final long[] order;
  private int at;

  Blobs(Program program, Partials partials, ByteWriter out) {
    this.program = program;
    this.partials = partials;
    this.out = out;
    order = order();
  }

  /** Entry numbers by window (as first met) and group, in one sortable number each. */
  private long[] order() {
    Map<Long, Integer> windows = new HashMap<>();
    int groups = program.groups().length;
    long[] keys = new long[partials.size()];
    long last = 0;
    int window = -1;
    for (int entry = 0; entry < keys.length; entry++) {
      long start = partials.start(entry);
      if (window < 0 || start != last) {
        last = start;
        window = windows.computeIfAbsent(start, absent -> windows.size());
      }
      keys[entry] = ((long) window * groups + program.slot(partials.hash(entry))) << 32 | entry;
    }
    Arrays.sort(keys);
    return keys;
  }

  @Override
  public boolean hasNext() {
    return at < order.length;
  }

  @Override
  public Row next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    long cell = order[at] >>> 32;
    int first = (int) order[at];
    long place = partials.place(first);
    long offset = partials.offset(first);
    out.clear();
    out.writeByte(Partials.VERSION);
    while (at < order.length && order[at] >>> 32 == cell && out.size() < BOUND) {
      int entry = (int) order[at++];
      if (partials.place(entry) < place || partials.place(entry) == place && partials.offset(entry) < offset) {
        place = partials.place(entry);
        offset = partials.offset(entry);
      }
      partials.write(entry, out);
    }
    return RowFactory.create(program.id(), program.groups()[program.slot(partials.hash(first))], Inputs.PARTIALS, (int) (place >> 32),
        (int) place, offset, partials.start(first), out.toBytes());
  }
}
