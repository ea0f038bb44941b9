package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.Header;
import headrace.window.StatedWindows;
import headrace.window.Windows;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * What all steps over windows that are known beforehand have in common: rows are judged, and gathered by slice.
 *
 * <p>An event is late iff the watermark by which its epoch is judged has reached the end of its last window plus the lateness.
 */
abstract class WindowStep implements Step {
  private static final int EXPECTED = 64;

  final Program program;
  final Windows windows;
  final Layout layout;
  final PaneWriter panes;
  final TreeMap<Long, Partials> batches = new TreeMap<>();
  private final LateWriter lateRows;
  private final String slots;
  private byte[] stored;
  /** The batch of the last row: the next one is mostly of the same slice. */
  private Partials batch;
  private long batchOf;
  Context context;
  Header header;
  /** The watermark that this epoch's rows are judged by. */
  long judged;

  WindowStep(Program program) {
    this.program = program;
    windows = (Windows) program.window();
    layout = program.layout();
    slots = layout.slots();
    panes = PaneWriter.of(program, layout);
    lateRows = LateWriter.of(program, 0);
  }

  @Override
  public void open(Context opened) {
    context = opened;
    batches.clear();
    batch = null;
    stored = context.cells().header();
    header = Header.read(stored, slots, program.name());
    if (stored == null) {
      header.processed = context.ticked();
    }
    judged = Math.max(header.watermark, context.judged());
  }

  @Override
  public void onPartials(Position position, long slice, byte[] entries) {
    if (isLate(slice)) {
      throw new IllegalStateException("step '" + program.name() + "' was sent combined events whose last window ended at "
          + Times.text(windows.end(windows.last(slice))) + ", which is closed at the watermark " + Times.text(judged)
          + ": events and operator were given different watermarks");
    }
    context.used(batch(slice).addAll(slice, entries));
  }

  @Override
  public void onRow(int side, Position position, UnsafeRow exit) {
    long time = exit.getLong(Program.EXIT_TIME);
    position.at(time, position.source, position.partition, position.offset);
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size());
    long slice = slice(windows, key, time);
    if (isLate(slice)) {
      context.late(1);
      if (lateRows != null) {
        context.emit(lateRows.write(exit, position, judged, windows.end(windows.last(slice))));
      }
      return;
    }
    UnsafeRow inputs = exit.getStruct(Program.EXIT_INPUTS, program.inputs().size());
    int hash = Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    batch(slice).add(slice, hash, key, inputs, position);
    context.used(1);
  }

  /** The slice of a row: by its time, or by its key where the row states its window. */
  static long slice(Windows windows, UnsafeRow key, long time) {
    return windows instanceof StatedWindows ? key.getLong(key.numFields() - 1) : windows.slice(time);
  }

  @Override
  public void close() {
    header.store(context.cells(), stored);
    context = null;
  }

  private boolean isLate(long slice) {
    return judged >= program.closed(windows.end(windows.last(slice)));
  }

  private Partials batch(long slice) {
    if (batch == null || batchOf != slice) {
      batch = batches.computeIfAbsent(slice, absent -> new Partials(layout, EXPECTED));
      batchOf = slice;
    }
    return batch;
  }
}
