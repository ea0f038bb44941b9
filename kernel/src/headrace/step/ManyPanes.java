package headrace.step;

import headrace.aggregate.Partials;
import headrace.aggregate.Slots;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Header;
import headrace.trigger.Accumulation;
import headrace.trigger.Trigger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeSet;

/**
 * Windows that may give several panes per key: early ones, refired ones, discarded or taken back ones.
 *
 * <p>Every window is kept by itself, since its keys have a history of their own: body = what is remembered of the panes, the accumulators,
 * and the last pane where it may have to be taken back.
 */
public final class ManyPanes extends WindowStep implements Pages.Body {
  private final Pages pages = new Pages(this);
  private final Trigger trigger;
  private final boolean discards;
  private final boolean retracts;
  private final Slots scratch;
  private final PaneState state = new PaneState();
  private final ByteWriter page = new ByteWriter(4096);
  private final TreeSet<Long> touched = new TreeSet<>();
  private int passed;

  public ManyPanes(Program program) {
    super(program);
    trigger = program.trigger();
    discards = program.accumulation() == Accumulation.DISCARDING;
    retracts = program.accumulation() == Accumulation.RETRACTING;
    scratch = layout.scratch();
  }

  @Override
  public void open(Context opened) {
    super.open(opened);
    touched.clear();
    passed = 0;
    header.watermark = judged;
  }

  @Override
  public void onTick(long watermark, long processed) {
    header.watermark = Math.max(header.watermark, watermark);
    if (header.processed != Context.NO_WATERMARK) {
      passed = trigger.passed(header.processed, processed);
    }
    header.processed = Math.max(header.processed, processed);
  }

  @Override
  public void close() {
    settle();
    Iterator<Map.Entry<Long, Header.Part>> open = header.parts.entrySet().iterator();
    while (open.hasNext()) {
      Map.Entry<Long, Header.Part> entry = open.next();
      if (show(entry.getKey(), entry.getValue())) {
        open.remove();
      }
    }
    super.close();
  }

  private void settle() {
    for (Map.Entry<Long, Partials> batch : batches.entrySet()) {
      long slice = batch.getKey();
      for (long window = windows.first(slice); window <= windows.last(slice); window = windows.next(window)) {
        // Late for this window, if not for all.
        if (program.closed(windows.end(window)) > judged) {
          pages.merge(context.cells(), window, header.part(window), batch.getValue());
          touched.add(window);
        }
      }
    }
    batches.clear();
  }

  /** Gives the panes of a window that are due; tells whether it is over. */
  private boolean show(long window, Header.Part part) {
    long end = windows.end(window);
    boolean complete = header.watermark >= end;
    Trigger.Moment moment = new Trigger.Moment(complete, header.watermark >= program.closed(end));
    boolean atWatermark = trigger.kind() == Trigger.Kind.AT_WATERMARK;
    if (moment.closing()) {
      boolean silent = part.dirty.isEmpty() && (trigger.kind() == Trigger.Kind.WHEN || atWatermark && part.shown);
      if (silent) {
        pages.drop(context.cells(), window, part);
      } else {
        context.emit(new Last(window, part, moment, context));
      }
      return true;
    }
    if (complete && atWatermark && !part.shown) {
      part.shown = true;
      for (int number = 0; number < part.pages; number++) {
        visit(window, number, part, moment);
      }
    } else if (passed != 0 || touched.contains(window) && trigger.counts(complete)) {
      for (int number = part.dirty.nextSetBit(0); number >= 0; number = part.dirty.nextSetBit(number + 1)) {
        visit(window, number, part, moment);
      }
    }
    return false;
  }

  private void visit(long window, int number, Header.Part part, Trigger.Moment moment) {
    byte[] content = pages.get(context.cells(), window, number);
    if (content == null) {
      part.dirty.clear(number);
      return;
    }
    page.clear();
    page.writeByte(Partials.VERSION);
    List<Output> given = new ArrayList<>();
    ByteReader in = Partials.open(content);
    boolean pending = false;
    while (in.hasRemaining()) {
      int from = in.position();
      int length = in.readLength();
      panes.key().pointTo(in.array(), in.address(), length);
      in.skip(length);
      page.writeRaw(content, from, in.position() - from);
      in.readLength();
      int body = page.beginLength();
      give(in, window, moment, context, given, page);
      page.endLength(body);
      pending |= state.pending > 0;
    }
    given.forEach(context::emit);
    part.dirty.set(number, pending);
    byte[] written = page.toBytes();
    if (!java.util.Arrays.equals(written, content)) {
      pages.put(context.cells(), window, number, part, content, written);
    }
  }

  /** One key of a page: gives its pane if it is due, and writes what is remembered from now on. */
  private void give(ByteReader in, long window, Trigger.Moment moment, Context epoch, List<Output> given, ByteWriter out) {
    state.read(in);
    state.remember(passed);
    int from = in.position();
    layout.clear(scratch);
    layout.read(scratch, in);
    int until = in.position();
    byte[] last = retracts ? in.readBytes() : null;
    if (!trigger.fires(moment, state.shown(), state.pending, state.remembered())) {
      state.write(out);
      out.writeRaw(in.array(), from, until - from);
      if (retracts) {
        out.writeBytes(last);
      }
      return;
    }
    long end = windows.end(window);
    long start = windows instanceof headrace.window.StatedWindows ? end : windows.start(window);
    long index = state.index;
    Pane pane = state.give(moment.complete());
    PaneWriter.About about = new PaneWriter.About(start, end, end, pane, index, moment.closing());
    byte[] row = panes.give(scratch, about, retracts ? List.of(last) : List.of(), epoch, given);
    state.write(out);
    if (discards) {
      layout.clear(scratch);
      layout.write(scratch, out);
    } else {
      out.writeRaw(in.array(), from, until - from);
    }
    if (retracts) {
      out.writeBytes(row);
    }
  }

  @Override
  public long begin(Partials batch, int entry, ByteWriter out) {
    state.clear();
    state.pending = layout.rows(batch.slots(entry));
    state.write(out);
    layout.write(batch.slots(entry), out);
    if (retracts) {
      out.writeBytes(new byte[0]);
    }
    return NEVER;
  }

  @Override
  public long size(Partials batch, int entry) {
    return batch.size(entry);
  }

  @Override
  public long merge(ByteReader stored, Partials batch, int entry, ByteWriter out) {
    state.read(stored);
    layout.clear(scratch);
    layout.read(scratch, stored);
    Slots added = batch.slots(entry);
    state.pending += layout.rows(added);
    layout.merge(scratch, added);
    state.write(out);
    layout.write(scratch, out);
    if (retracts) {
      out.writeBytes(stored.readBytes());
    }
    return NEVER;
  }

  /** The last panes of a window, page by page, each page removed as it is read. */
  private final class Last implements Iterator<Output> {
    private final long window;
    private final Iterator<byte[]> cells;
    private final Trigger.Moment moment;
    private final Context epoch;
    private final int moments = passed;
    private final ArrayDeque<Output> ready = new ArrayDeque<>();

    Last(long window, Header.Part part, Trigger.Moment moment, Context epoch) {
      this.window = window;
      this.cells = pages.take(epoch.cells(), window, part);
      this.moment = moment;
      this.epoch = epoch;
    }

    @Override
    public boolean hasNext() {
      while (ready.isEmpty() && cells.hasNext()) {
        passed = moments;
        List<Output> given = new ArrayList<>();
        ByteReader in = Partials.open(cells.next());
        while (in.hasRemaining()) {
          int length = in.readLength();
          panes.key().pointTo(in.array(), in.address(), length);
          in.skip(length);
          in.readLength();
          page.clear();
          give(in, window, moment, epoch, given, page);
        }
        ready.addAll(given);
      }
      return !ready.isEmpty();
    }

    @Override
    public Output next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return ready.poll();
    }
  }
}
