package headrace.step;

import headrace.aggregate.Partials;
import headrace.aggregate.Slots;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Header;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Windows that give one pane per key: when the watermark reaches their end, or when nothing can change them any more.
 *
 * <p>Only slices are kept; a window is put together from its slices when it fires, so a row is added once however many windows it is in.
 */
public final class SinglePane extends WindowStep implements Pages.Body {
  private final Pages pages = new Pages(this);
  private final Slots scratch;

  public SinglePane(Program program) {
    super(program);
    scratch = layout.scratch();
  }

  @Override
  public void open(Context opened) {
    super.open(opened);
    if (program.chained()) {
      header.watermark = judged;
    } else {
      // What the new watermark closes, it closes for the rows of this epoch too: they must not be in.
      fire(judged);
    }
  }

  @Override
  public void onTick(long watermark, long processed) {
    settle();
    header.processed = processed;
    fire(Math.max(header.watermark, watermark));
  }

  @Override
  public void close() {
    settle();
    super.close();
  }

  private void settle() {
    for (Map.Entry<Long, Partials> entry : batches.entrySet()) {
      Header.Part part = header.part(entry.getKey());
      pages.merge(context.cells(), entry.getKey(), part, entry.getValue());
      part.dirty.clear();
    }
    batches.clear();
  }

  private void fire(long watermark) {
    if (windows.overlap()) {
      fireOverlapping(watermark);
    } else {
      fireSeparate(watermark);
    }
    header.watermark = watermark;
  }

  private void fireSeparate(long watermark) {
    while (!header.parts.isEmpty()) {
      long slice = header.parts.firstKey();
      long window = windows.last(slice);
      if (program.closed(windows.end(window)) > watermark) {
        break;
      }
      Header.Part part = header.parts.pollFirstEntry().getValue();
      context.emit(new Stored(pages.take(context.cells(), slice, part), window, context));
    }
  }

  private void fireOverlapping(long watermark) {
    TreeSet<Long> due = new TreeSet<>();
    for (long slice : header.parts.keySet()) {
      for (long window = windows.first(slice); window <= windows.last(slice); window = windows.next(window)) {
        long at = program.closed(windows.end(window));
        if (at > watermark) {
          break;
        }
        if (at > header.watermark) {
          due.add(window);
        }
      }
    }
    for (long window : due) {
      context.emit(new Gathered(gather(window), window, context));
    }
    Iterator<Map.Entry<Long, Header.Part>> slices = header.parts.entrySet().iterator();
    while (slices.hasNext()) {
      Map.Entry<Long, Header.Part> slice = slices.next();
      if (program.closed(windows.end(windows.last(slice.getKey()))) > watermark) {
        break;
      }
      pages.drop(context.cells(), slice.getKey(), slice.getValue());
      slices.remove();
    }
  }

  /** The slices of a window put together: the keys of one group, no more. */
  private Partials gather(long window) {
    Partials all = new Partials(layout, 64);
    for (Map.Entry<Long, Header.Part> slice : header.parts.subMap(windows.from(window), windows.until(window)).entrySet()) {
      for (int page = 0; page < slice.getValue().pages; page++) {
        byte[] content = pages.get(context.cells(), slice.getKey(), page);
        if (content != null) {
          all.addAll(window, content);
        }
      }
    }
    return all;
  }

  @Override
  public long begin(Partials batch, int entry, ByteWriter out) {
    layout.write(batch.slots(entry), out);
    return NEVER;
  }

  @Override
  public long size(Partials batch, int entry) {
    return batch.size(entry);
  }

  @Override
  public long merge(ByteReader stored, Partials batch, int entry, ByteWriter out) {
    layout.clear(scratch);
    layout.read(scratch, stored);
    layout.merge(scratch, batch.slots(entry));
    layout.write(scratch, out);
    return NEVER;
  }

  /** Panes written one at a time as they are asked for. */
  private abstract class Panes implements Iterator<Output> {
    private final long start;
    private final long end;
    private final Context epoch;
    private final ArrayDeque<Output> ready = new ArrayDeque<>();

    Panes(long window, Context epoch) {
      end = windows.end(window);
      start = windows instanceof headrace.window.StatedWindows ? end : windows.start(window);
      this.epoch = epoch;
    }

    /** Points the writer at the next key and tells its accumulators, or null at the end. */
    abstract Slots next(PaneWriter writer);

    @Override
    public boolean hasNext() {
      if (ready.isEmpty()) {
        Slots slots = next(panes);
        if (slots != null) {
          panes.give(slots, new PaneWriter.About(start, end, end, Pane.ON_TIME, 0, true), List.of(), epoch, ready);
        }
      }
      return !ready.isEmpty();
    }

    @Override
    public Output next() {
      if (!hasNext()) {
        throw new java.util.NoSuchElementException();
      }
      return ready.poll();
    }
  }

  private final class Stored extends Panes {
    private final Iterator<byte[]> cells;
    private ByteReader in;

    Stored(Iterator<byte[]> cells, long window, Context epoch) {
      super(window, epoch);
      this.cells = cells;
    }

    @Override
    Slots next(PaneWriter writer) {
      while (in == null || !in.hasRemaining()) {
        if (!cells.hasNext()) {
          return null;
        }
        in = Partials.open(cells.next());
      }
      int length = in.readLength();
      writer.key().pointTo(in.array(), in.address(), length);
      in.skip(length);
      in.readLength();
      layout.clear(scratch);
      layout.read(scratch, in);
      return scratch;
    }
  }

  private final class Gathered extends Panes {
    private final Partials all;
    private int entry;

    Gathered(Partials all, long window, Context epoch) {
      super(window, epoch);
      this.all = all;
    }

    @Override
    Slots next(PaneWriter writer) {
      if (entry == all.size()) {
        return null;
      }
      all.key(entry, writer.key());
      return all.slots(entry++);
    }
  }
}
