package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Header;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * A step whose state is a history per key, not a window's: sessions, sliding windows, rows of a table.
 *
 * <p>All keys of the group are in one part. What an epoch brings is gathered by key and enters the key's history at once; then the pages
 * are looked at in which something is due.
 *
 * @param <T> what the epoch brings
 */
abstract class KeyedStep<T> implements Step, Pages.Body {
  private static final long PART = 0;
  private static final int ITEM_BYTES = 48;
  private static final int NONE = -1;
  private static final Layout NOTHING = new Layout(List.of());
  private static final UnsafeRow NO_INPUTS = new UnsafeRow(0);

  static {
    NO_INPUTS.pointTo(new byte[0], 0);
  }

  final Program program;
  private final Pages pages = new Pages(this);
  private final PageSweep sweep = new PageSweep(pages);
  private final LateWriter lateRows;
  private final String slots;
  private final Partials keys = new Partials(NOTHING, 64);
  /** What the epoch brought, as it came. Items of one key are chained from the last back: a list for each would be most of the garbage. */
  private final List<T> brought = new ArrayList<>();
  private final List<T> ofKey = new ArrayList<>();
  private int[] before = new int[64];
  private int[] last = new int[64];
  private byte[] stored;
  Context context;
  Header header;
  /** The watermark that this epoch's rows are judged by. */
  long judged;
  /** The moments of the trigger that passed with this epoch's tick. */
  int passed;

  KeyedStep(Program program, Layout layout) {
    this.program = program;
    slots = layout.slots();
    lateRows = LateWriter.of(program, 0);
  }

  /**
   * Joins what the epoch brought with the history of its key.
   *
   * @param history at the beginning of the key's body, or null when there is none; to be left at its end
   * @param brought not to be kept
   * @return the watermark from which on the key wants to be looked at
   */
  abstract long join(ByteReader history, List<T> brought, ByteWriter out);

  /**
   * Gives what is due of a key, and writes the history that it has from now on; nothing when the key can be forgotten.
   *
   * @param content where the key's bytes are, from {@code address} on
   * @return the watermark from which on the key wants to be looked at again
   */
  abstract long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given);

  /** A row that is not known to be late. */
  abstract void take(UnsafeRow exit, Position position);

  @Override
  public void open(Context opened) {
    context = opened;
    brought.clear();
    keys.clear();
    passed = 0;
    stored = context.cells().header();
    header = Header.read(stored, slots, program.name());
    if (stored == null) {
      header.processed = context.ticked();
    }
    judged = Math.max(header.watermark, context.judged());
    header.watermark = judged;
  }

  @Override
  public void onPartials(Position position, long slice, byte[] entries) {
    throw new IllegalStateException("step '" + program.name() + "' takes rows one by one, and was sent combined ones");
  }

  @Override
  public void onRow(int side, Position position, UnsafeRow exit) {
    position.at(exit.getLong(Program.EXIT_TIME), position.source, position.partition, position.offset);
    take(exit, position);
  }

  @Override
  public void onTick(long watermark, long processed) {
    header.watermark = Math.max(header.watermark, watermark);
    if (header.processed != Context.NO_WATERMARK) {
      passed = program.trigger().passed(header.processed, processed);
    }
    header.processed = Math.max(header.processed, processed);
  }

  /** Keeps something for its key until all of the epoch is there. */
  final void bring(Object base, long address, int length, T item) {
    int hash = Partials.hash(base, address, length);
    int entry = keys.find(hash, base, address, length);
    if (entry < 0) {
      UnsafeRow key = new UnsafeRow(program.key().size());
      key.pointTo(base, address, length);
      keys.add(PART, hash, key, NO_INPUTS, new Position());
      entry = keys.size() - 1;
      last = entry < last.length ? last : Arrays.copyOf(last, 2 * entry);
      last[entry] = NONE;
    }
    int number = brought.size();
    before = number < before.length ? before : Arrays.copyOf(before, 2 * number);
    before[number] = last[entry];
    last[entry] = number;
    brought.add(item);
  }

  /** What the epoch brought for a key, as it came; it holds until the next key is asked for. */
  private List<T> brought(int entry) {
    ofKey.clear();
    for (int number = last[entry]; number != NONE; number = before[number]) {
      ofKey.add(brought.get(number));
    }
    Collections.reverse(ofKey);
    return ofKey;
  }

  /** A row that is too late leaves, and is counted. */
  final void late(UnsafeRow row, Position position, long end) {
    context.late(1);
    if (lateRows != null) {
      context.emit(lateRows.write(row, position, judged, end));
    }
  }

  @Override
  public void close() {
    Header.Part part = header.part(PART);
    if (keys.size() > 0) {
      pages.merge(context.cells(), PART, part, keys);
    }
    for (int number = 0; number < part.pages; number++) {
      if (part.due(number) <= header.watermark || passed != 0 && part.dirty.get(number)) {
        look(number, part);
      }
    }
    if (part.keys == 0) {
      header.parts.remove(PART);
    }
    brought.clear();
    header.store(context.cells(), stored);
    context = null;
  }

  private void look(int number, Header.Part part) {
    part.dirty.clear(number);
    List<Output> given = new ArrayList<>();
    boolean left = sweep.sweep(context.cells(), PART, number, part,
        (content, address, length, body, out) -> look(content, address, length, body, out, given));
    given.forEach(context::emit);
    part.dirty.set(number, left);
  }

  @Override
  public long begin(Partials batch, int entry, ByteWriter out) {
    return join(null, brought(entry), out);
  }

  @Override
  public long merge(ByteReader history, Partials batch, int entry, ByteWriter out) {
    return join(history, brought(entry), out);
  }

  @Override
  public long size(Partials batch, int entry) {
    return (long) ITEM_BYTES * brought(entry).size();
  }
}
