package headrace.step;

import static headrace.step.Interval.LEFT;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Cells;
import headrace.state.SlicedHeader;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * The rows that a join holds: by side, by slice of event time, and in a slice by key, in pages.
 *
 * <p>New rows are of the latest slices, so that older pages are read and not written; and a slice goes as a whole, without a look into it,
 * when its last row may go. That a row has left unmatched is not noted either: it has if it is unmatched and gone.
 *
 * <p>Body of a key: its length in bytes, and per row the time since the slice began, whether it is matched, its place, and its columns.
 */
final class HeldRows implements Pages.Body {
  private static final int SIDES = 2;
  private static final int ROW_BYTES = 12;
  private static final Layout NOTHING = new Layout(List.of());
  private static final UnsafeRow NO_INPUTS = new UnsafeRow(0);

  static {
    NO_INPUTS.pointTo(new byte[0], 0);
  }

  /** Who takes the rows that leave by themselves. */
  interface Leaving {
    void alone(int side, JoinRow row);
  }

  /** What is to be held of one slice: keys, and for each the stretch of rows that were brought. */
  private static final class Batch {
    final Partials keys = new Partials(NOTHING, 64);
    int[] from = new int[64];
    int[] to = new int[64];

    void add(int hash, UnsafeRow key, int begin, int end) {
      int entry = keys.size();
      if (entry == from.length) {
        from = Arrays.copyOf(from, 2 * entry);
        to = Arrays.copyOf(to, 2 * entry);
      }
      keys.add(0, hash, key, NO_INPUTS, new Position());
      from[entry] = begin;
      to[entry] = end;
    }
  }

  private final Interval interval;
  private final Brought brought;
  private final Pages pages = new Pages(this);
  private final ByteReader in = new ByteReader();
  private final UnsafeRow key = new UnsafeRow(0);
  private Cells cells;
  private SlicedHeader header;
  private long[] gone;
  private int[] wanting = new int[64];
  private Batch batch;
  private int side;
  private long start;

  HeldRows(Interval interval, Brought brought) {
    this.interval = interval;
    this.brought = brought;
  }

  /** {@code gone}: until when rows of either side are to be let go in this epoch. */
  void open(Cells opened, SlicedHeader of, long[] until) {
    cells = opened;
    header = of;
    gone = until;
  }

  // ------------------------------------------------------------------ meeting

  /** Lets the rows that are held meet those that were brought. */
  void meet(IntervalJoin join) {
    for (side = 0; side < SIDES; side++) {
      for (Map.Entry<Long, SlicedHeader.Slice> each : header.slices.get(side).entrySet()) {
        start = each.getKey();
        if (each.getValue().last > header.gone[side]) {
          meet(join, each.getValue());
        }
      }
    }
  }

  private void meet(IntervalJoin join, SlicedHeader.Slice slice) {
    int other = 1 - side;
    long earliest = start + interval.from(side);
    long latest = slice.last + interval.to(side);
    int count = 0;
    for (int each = 0; each < brought.keys(); each++) {
      int from = brought.from(each, other);
      int to = brought.to(each, other);
      if (from < to && brought.row(from).time <= latest && brought.row(to - 1).time >= earliest && !brought.isUnknown(each)) {
        if (count == wanting.length) {
          wanting = Arrays.copyOf(wanting, 2 * count);
        }
        wanting[count++] = Pages.address(Pages.mix(brought.hash(each)), slice.part.pages);
      }
    }
    Arrays.sort(wanting, 0, count);
    for (int i = 0; i < count; i++) {
      if (i == 0 || wanting[i] != wanting[i - 1]) {
        meet(join, slice, wanting[i]);
      }
    }
  }

  private void meet(IntervalJoin join, SlicedHeader.Slice slice, int page) {
    long number = SlicedHeader.number(side, start);
    byte[] content = pages.get(cells, number, page);
    if (content == null) {
      return;
    }
    boolean changed = false;
    int other = 1 - side;
    version(content);
    while (in.hasRemaining()) {
      int length = in.readLength();
      int keyAt = in.position();
      long address = in.address();
      in.skip(length);
      int end = in.readLength() + in.position();
      int entry = brought.find(Partials.hash(content, address, length), content, address, length);
      if (entry >= 0 && brought.from(entry, other) < brought.to(entry, other) && !brought.isUnknown(entry)) {
        in.readLength();
        changed |= meet(join, content, keyAt, length, end, brought.from(entry, other), brought.to(entry, other));
      }
      in.skip(end - in.position());
    }
    if (changed) {
      pages.put(cells, number, page, slice.part, content, content);
    }
  }

  /** Lets the rows of one key meet a stretch of those that were brought; tells whether it noted a first match. */
  private boolean meet(IntervalJoin join, byte[] content, int keyAt, int keyLength, int end, int from, int to) {
    boolean changed = false;
    boolean noted = notes(side);
    while (in.position() < end) {
      long time = start + in.readUnsigned();
      int flag = in.position();
      boolean matched = in.readByte() != 0;
      int first = time > header.gone[side] && (interval.how().pairs || !matched) ? brought.first(from, to, time + interval.from(side)) : to;
      if (first == to || brought.row(first).time > time + interval.to(side)) {
        skip();
        continue;
      }
      JoinRow row = row(time, content, keyAt, keyLength);
      row.matched = matched;
      join.meet(side, row, first, to);
      if (noted && !matched) {
        content[flag] = 1;
        changed = true;
      }
    }
    return changed;
  }

  /** Whether it counts for a row of a side that it was matched. */
  private boolean notes(int of) {
    return interval.how().givesUnmatched(of) || of == LEFT && !interval.how().pairs;
  }

  // ------------------------------------------------------------------ leaving

  /** Gives the rows that leave unmatched now, and drops what nothing can match any more. */
  void leave(Leaving join) {
    for (side = 0; side < SIDES; side++) {
      Iterator<Map.Entry<Long, SlicedHeader.Slice>> all = header.slices.get(side).entrySet().iterator();
      while (all.hasNext()) {
        Map.Entry<Long, SlicedHeader.Slice> each = all.next();
        start = each.getKey();
        if (start > gone[side]) {
          break;
        }
        SlicedHeader.Slice slice = each.getValue();
        for (int page = 0; page < slice.part.pages; page++) {
          if (slice.part.due(page) <= gone[side] && slice.part.due(page) != NEVER) {
            slice.part.due(page, leave(join, page));
          }
        }
        if (slice.last <= gone[side]) {
          pages.drop(cells, SlicedHeader.number(side, start), slice.part);
          all.remove();
        }
      }
    }
  }

  /** Gives the rows of a page that leave; tells when the next one may have to. */
  private long leave(Leaving join, int page) {
    byte[] content = pages.get(cells, SlicedHeader.number(side, start), page);
    long due = NEVER;
    if (content == null) {
      return due;
    }
    version(content);
    while (in.hasRemaining()) {
      int length = in.readLength();
      int keyAt = in.position();
      in.skip(length);
      int end = in.readLength() + in.position();
      in.readLength();
      while (in.position() < end) {
        long time = start + in.readUnsigned();
        if (in.readByte() != 0 || time <= header.gone[side]) {
          skip();
        } else if (time > gone[side]) {
          due = Math.min(due, time);
          skip();
        } else {
          join.alone(side, row(time, content, keyAt, length));
        }
      }
    }
    return due;
  }

  // ------------------------------------------------------------------ holding

  /** Holds the rows that were brought, as far as they are needed. */
  void hold() {
    for (int each = 0; each < SIDES; each++) {
      hold(each);
    }
  }

  /** Holds the rows of one side that were brought, as far as they are needed. */
  void hold(int of) {
    side = of;
    TreeMap<Long, Batch> batches = new TreeMap<>();
    for (int each = 0; each < brought.keys(); each++) {
      int end = brought.to(each, side);
      int begin = gone[side] == Long.MAX_VALUE ? end : brought.first(brought.from(each, side), end, gone[side] + 1);
      while (begin < end) {
        long slice = header.start(brought.row(begin).time);
        int next = brought.first(begin, end, slice + header.length());
        if (anyHeld(begin, next)) {
          brought.key(each, key);
          batches.computeIfAbsent(slice, absent -> new Batch()).add(brought.hash(each), key, begin, next);
        }
        begin = next;
      }
    }
    batches.forEach(this::hold);
  }

  private void hold(long of, Batch rows) {
    start = of;
    batch = rows;
    SlicedHeader.Slice slice = header.slice(side, of);
    for (int entry = 0; entry < rows.keys.size(); entry++) {
      slice.last = Math.max(slice.last, brought.row(rows.to[entry] - 1).time);
    }
    pages.merge(cells, SlicedHeader.number(side, of), slice.part, rows.keys);
    slice.part.dirty.clear();
  }

  private boolean anyHeld(int from, int to) {
    for (int number = from; number < to; number++) {
      if (isHeld(brought.row(number))) {
        return true;
      }
    }
    return false;
  }

  /** A left row of which it only counts whether there is a match is not needed once there is. */
  private boolean isHeld(JoinRow row) {
    return interval.how().pairs || side != LEFT || !row.matched;
  }

  @Override
  public long begin(Partials keys, int entry, ByteWriter out) {
    int body = out.beginLength();
    long due = write(entry, out);
    out.endLength(body);
    return due;
  }

  @Override
  public long merge(ByteReader stored, Partials keys, int entry, ByteWriter out) {
    int body = out.beginLength();
    int length = stored.readLength();
    out.writeRaw(stored.array(), stored.position(), length);
    stored.skip(length);
    long due = write(entry, out);
    out.endLength(body);
    return due;
  }

  @Override
  public long size(Partials keys, int entry) {
    long size = 0;
    for (int number = batch.from[entry]; number < batch.to[entry]; number++) {
      size += ROW_BYTES + brought.row(number).length;
    }
    return size;
  }

  /** Writes the rows of a key; tells when the first of them may have to leave. */
  private long write(int entry, ByteWriter out) {
    boolean leaves = interval.how().givesUnmatched(side);
    long due = NEVER;
    for (int number = batch.from[entry]; number < batch.to[entry]; number++) {
      JoinRow row = brought.row(number);
      if (!isHeld(row)) {
        continue;
      }
      out.writeUnsigned(row.time - start);
      out.writeByte(row.matched ? 1 : 0);
      out.writeSigned(row.source);
      out.writeUnsigned(row.partition);
      out.writeSigned(row.offset);
      out.writeUnsigned(row.length);
      out.writeRaw(row.bytes(), row.columnsAt(), row.length);
      if (leaves && !row.matched) {
        due = Math.min(due, row.time);
      }
    }
    return due;
  }

  // ------------------------------------------------------------------ reading

  private void version(byte[] content) {
    in.over(content);
    int version = in.readByte();
    if (version != Partials.VERSION) {
      throw new IllegalStateException("held rows in format " + version + ", this version of headrace reads " + Partials.VERSION);
    }
  }

  /** A row behind its flag. */
  private JoinRow row(long time, byte[] content, int keyAt, int keyLength) {
    int source = (int) in.readSigned();
    int partition = (int) in.readUnsigned();
    long offset = in.readSigned();
    int length = in.readLength();
    int columnsAt = in.position();
    in.skip(length);
    return new JoinRow(time, source, partition, offset, content, keyAt, keyLength, columnsAt, length);
  }

  private void skip() {
    in.readUnsigned();
    in.readUnsigned();
    in.readUnsigned();
    in.skip(in.readLength());
  }
}
