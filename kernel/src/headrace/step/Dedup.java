package headrace.step;

import static headrace.step.Interval.LEFT;

import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Cells;
import headrace.state.SlicedHeader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Lets the first row of each id pass, and no other within so long of it in event time.
 *
 * <p>The first of one epoch is the first by event time, then position. A row that passed is remembered until no row near it can come any
 * more; a row older than that is late, since nobody knows whether it is a second one.
 *
 * <p>Ids are held by slices of event time, and in a slice in pages. So an epoch writes to the latest slices, reads of the others what its
 * rows are near to, and a slice goes as a whole, without a look into it. Body of an id: number of times, and each since the slice began.
 */
public final class Dedup implements Step, Pages.Body {
  private static final int SPARE = 64;
  private static final int TIME_BYTES = 8;

  private final Program program;
  private final LateWriter lateRows;
  private final Pages pages = new Pages(this);
  private final UnsafeRow id;
  private final TreeMap<Long, BroughtIds> brought = new TreeMap<>();
  private final ArrayDeque<BroughtIds> spare = new ArrayDeque<>();
  private int[] toRead = new int[64];
  private byte[] stored;
  private Context context;
  private SlicedHeader header;
  /** The watermark that this epoch's rows are judged by. */
  private long judged;
  /** Where the last row went: the next one mostly goes there, too. */
  private BroughtIds latest;
  private BroughtIds.Passed holding;

  public Dedup(Program program) {
    this.program = program;
    lateRows = LateWriter.of(program, LEFT);
    id = new UnsafeRow(program.key().size());
  }

  @Override
  public void open(Context opened) {
    context = opened;
    stored = context.cells().header();
    header = SlicedHeader.read(stored, program.slice(), program.name());
    judged = Math.max(header.watermark, context.judged());
    header.watermark = judged;
  }

  @Override
  public void onPartials(Position position, long slice, byte[] entries) {
    throw new IllegalStateException("step '" + program.name() + "' takes rows one by one, and was sent combined ones");
  }

  @Override
  public void onRow(int side, Position position, UnsafeRow exit) {
    long time = exit.getLong(Program.EXIT_TIME);
    position.at(time, position.source, position.partition, position.offset);
    if (judged >= after(time)) {
      context.late(1);
      if (lateRows != null) {
        context.emit(lateRows.write(exit, position, judged, time));
      }
      return;
    }
    byte[] row = exit.getStruct(Program.EXIT_ROW, program.row().size()).copy().getBytes();
    // Most rows are the first of their id: they leave as what they were kept as.
    of(time).add(exit.getStruct(Program.EXIT_KEY, program.key().size()),
        new Output(program.port(), time, position.source, position.partition, position.offset, row));
  }

  @Override
  public void onTick(long watermark, long processed) {
    header.watermark = Math.max(header.watermark, watermark);
  }

  @Override
  public void close() {
    header.slices.get(LEFT).forEach(this::readSlice);
    List<BroughtIds> earlier = new ArrayList<>();
    for (BroughtIds ids : brought.values()) {
      judge(ids, earlier);
      earlier.add(ids);
    }
    Cells cells = context.cells();
    header.slices.get(LEFT).entrySet().removeIf(each -> {
      boolean over = isOver(each.getValue().last);
      if (over) {
        pages.drop(cells, SlicedHeader.number(LEFT, each.getKey()), each.getValue().part);
      }
      return over;
    });
    brought.forEach(this::hold);
    header.store(cells, stored);
    brought.values().forEach(ids -> {
      ids.clear();
      if (spare.size() < SPARE) {
        spare.push(ids);
      }
    });
    brought.clear();
    latest = null;
    context = null;
  }

  private BroughtIds of(long time) {
    long start = header.start(time);
    if (latest == null || latest.start() != start) {
      latest = brought.computeIfAbsent(start, absent -> (spare.isEmpty() ? new BroughtIds() : spare.pop()).of(absent));
    }
    return latest;
  }

  // ------------------------------------------------------------------ judging

  /** Tells ids that were brought when rows of them have passed, as far as a slice knows. */
  private void readSlice(long start, SlicedHeader.Slice slice) {
    List<BroughtIds> near = new ArrayList<>();
    int count = 0;
    for (BroughtIds ids : brought.values()) {
      if (ids.first() <= after(slice.last) && start <= after(ids.last())) {
        near.add(ids);
        toRead = count + ids.size() <= toRead.length ? toRead : Arrays.copyOf(toRead, Math.max(2 * count, count + ids.size()));
        for (int entry = 0; entry < ids.size(); entry++) {
          toRead[count++] = Pages.address(Pages.mix(ids.hash(entry)), slice.part.pages);
        }
      }
    }
    Arrays.sort(toRead, 0, count);
    for (int i = 0; i < count; i++) {
      if (i == 0 || toRead[i] != toRead[i - 1]) {
        byte[] page = pages.get(context.cells(), SlicedHeader.number(LEFT, start), toRead[i]);
        if (page != null) {
          readPage(start, page, near);
        }
      }
    }
  }

  private static void readPage(long start, byte[] page, List<BroughtIds> near) {
    ByteReader in = Partials.open(page);
    while (in.hasRemaining()) {
      int length = in.readLength();
      long address = in.address();
      in.skip(length);
      int end = in.readLength() + in.position();
      int hash = Partials.hash(page, address, length);
      for (BroughtIds ids : near) {
        int entry = ids.find(hash, page, address, length);
        if (entry >= 0) {
          recall(ids, entry, start, Arrays.copyOfRange(page, in.position(), end));
        }
      }
      in.skip(end - in.position());
    }
  }

  private static void recall(BroughtIds ids, int entry, long start, byte[] body) {
    ByteReader times = new ByteReader().over(body);
    for (int left = times.readLength(); left > 0; left--) {
      ids.recall(entry, start + times.readUnsigned());
    }
  }

  /** Judges the rows of a slice; those of earlier slices have been. */
  private void judge(BroughtIds ids, List<BroughtIds> earlier) {
    int from = earlier.size();
    while (from > 0 && after(earlier.get(from - 1).last()) >= ids.first()) {
      from--;
    }
    List<BroughtIds> near = earlier.subList(from, earlier.size());
    for (int entry = 0; entry < ids.size(); entry++) {
      for (int row : ids.byTime(entry)) {
        Output output = ids.row(row);
        if (ids.hasNear(entry, output.time(), program.within()) || hasNear(near, ids, entry, output.time())) {
          context.duplicate(1);
          if (program.duplicatePort() != null) {
            context.emit(new Output(program.duplicatePort(), output.time(), output.source(), output.partition(), output.offset(), output.payload()));
          }
        } else {
          ids.pass(row);
          context.used(1);
          context.emit(output);
        }
      }
    }
  }

  private boolean hasNear(List<BroughtIds> near, BroughtIds ids, int entry, long time) {
    if (near.isEmpty()) {
      return false;
    }
    ids.key(entry, id);
    for (BroughtIds other : near) {
      int same = other.find(ids.hash(entry), id.getBaseObject(), id.getBaseOffset(), id.getSizeInBytes());
      if (same >= 0 && other.hasPassed(same, time, program.within())) {
        return true;
      }
    }
    return false;
  }

  // ------------------------------------------------------------------ holding

  private void hold(long start, BroughtIds ids) {
    holding = ids.passed();
    if (holding.size() == 0 || isOver(holding.last())) {
      return;
    }
    SlicedHeader.Slice slice = header.slice(LEFT, start);
    slice.last = Math.max(slice.last, holding.last());
    pages.merge(context.cells(), SlicedHeader.number(LEFT, start), slice.part, holding.keys());
    slice.part.dirty.clear();
  }

  /** Whether every row that is near to one of this time is late. */
  private boolean isOver(long time) {
    return header.watermark >= after(after(time));
  }

  @Override
  public long begin(Partials keys, int entry, ByteWriter out) {
    out.writeUnsigned(holding.times(entry));
    holding.write(entry, out);
    return NEVER;
  }

  @Override
  public long merge(ByteReader before, Partials keys, int entry, ByteWriter out) {
    int known = before.readLength();
    out.writeUnsigned(known + holding.times(entry));
    for (int each = 0; each < known; each++) {
      out.writeUnsigned(before.readUnsigned());
    }
    holding.write(entry, out);
    return NEVER;
  }

  @Override
  public long size(Partials keys, int entry) {
    keys.key(entry, id);
    return id.getSizeInBytes() + TIME_BYTES;
  }

  private long after(long time) {
    return time > Long.MAX_VALUE - program.within() ? Long.MAX_VALUE : time + program.within();
  }
}
