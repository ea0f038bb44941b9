package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.Header;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Aggregates per key over tumbling windows: one pane per key when the watermark reaches the window's end, late events aside.
 *
 * <p>An event is late iff the watermark of its epoch has reached its window's end plus the lateness. The events of an epoch are counted
 * before its tick, but judged by the tick's watermark, so that the answer follows from the logged offsets alone.
 */
public final class Tumbling implements Step {
  private static final int EXPECTED = 64;

  private final Program program;
  private final TumblingWindow window;
  private final long lateness = 0;
  private final Layout layout;
  private final String slots;
  private final Pages pages;
  private final PaneWriter panes;
  private final LateWriter lateRows;
  private final UnsafeRow exit = new UnsafeRow(Program.EXIT_FIELDS);
  private final TreeMap<Long, Partials> batch = new TreeMap<>();
  private Context context;
  private byte[] stored;
  private Header header;
  private long watermark;

  public Tumbling(Program program) {
    this.program = program;
    window = program.window();
    layout = Layout.of(program.aggregates());
    slots = layout.slots();
    pages = new Pages(layout);
    panes = new PaneWriter(program, layout);
    lateRows = program.latePort() == null ? null : new LateWriter(program);
  }

  @Override
  public void open(Context opened) {
    context = opened;
    batch.clear();
    stored = context.cells().header();
    header = Header.read(stored, slots, program.name());
    watermark = Math.max(header.watermark, context.tick());
  }

  @Override
  public void onPartials(Position position, long start, byte[] entries) {
    long end = window.end(start);
    if (isLate(end)) {
      throw new IllegalStateException("step '" + program.name() + "' was sent combined events of the window " + Times.window(start, end)
          + ", which is closed at the watermark " + Times.text(watermark) + ": events and operator were given different watermarks");
    }
    batch(start).addAll(start, entries);
  }

  @Override
  public void onRow(Position position, byte[] bytes) {
    exit.pointTo(bytes, bytes.length);
    long time = exit.getLong(Program.EXIT_TIME);
    long end = window.end(time);
    if (isLate(end)) {
      if (lateRows != null) {
        context.emit(lateRows.write(exit, position.at(time, position.source, position.partition, position.offset), watermark, end));
      }
      return;
    }
    long start = window.start(time);
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size());
    UnsafeRow inputs = exit.getStruct(Program.EXIT_INPUTS, program.inputs().size());
    int hash = Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    batch(start).add(start, hash, key, inputs, position.at(time, position.source, position.partition, position.offset));
  }

  @Override
  public void onTick(long tick) {
    settle();
    header.watermark = Math.max(header.watermark, tick);
    while (!header.windows.isEmpty()) {
      Map.Entry<Long, Header.Window> first = header.windows.firstEntry();
      long end = window.end(first.getKey());
      if (end > header.watermark) {
        break;
      }
      header.windows.pollFirstEntry();
      Iterator<byte[]> content = pages.take(context.cells(), first.getKey(), first.getValue());
      context.emit(panes.panes(content, first.getKey(), end, context.group()));
    }
  }

  @Override
  public void close() {
    settle();
    byte[] written = header.write();
    if (!Arrays.equals(written, stored)) {
      context.cells().putHeader(written);
    }
    context = null;
  }

  private boolean isLate(long end) {
    return end <= Long.MAX_VALUE - lateness ? watermark >= end + lateness : watermark == Context.END;
  }

  private Partials batch(long start) {
    return batch.computeIfAbsent(start, absent -> new Partials(layout, EXPECTED));
  }

  /** Moves what this epoch brought into the cells. */
  private void settle() {
    for (Map.Entry<Long, Partials> entry : batch.entrySet()) {
      Header.Window open = header.windows.computeIfAbsent(entry.getKey(), absent -> new Header.Window());
      pages.merge(context.cells(), entry.getKey(), open, entry.getValue());
    }
    batch.clear();
  }
}
