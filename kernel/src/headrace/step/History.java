package headrace.step;

import static headrace.step.Interval.LEFT;
import static headrace.step.Interval.RIGHT;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Cells;
import headrace.state.Header;
import headrace.state.SlicedHeader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * What a table's rows have been, as far as a row that comes in time may still ask: by key its versions, by (time, position).
 *
 * <p>Of versions of one time only the last one can ever be seen. One that another has followed is let go once nobody in time can be before
 * the other, though not to the moment: a page with many of them would be written anew in every epoch. A tombstone that is all that a key
 * has is let go to the moment, since what comes for the key after that is judged as if it had never been there. Where only the row that
 * is there now is wanted, it is the one version of its key.
 *
 * <p>Body: how many versions there are, and for each its time, its place, the length of its columns and one, and these; nought for none.
 */
final class History implements Pages.Body {
  private static final long NUMBER = SlicedHeader.number(RIGHT, 0);
  private static final int ROW_BYTES = 12;
  private static final long LEAST_GRAIN = 60_000_000L;
  private static final int GRAINS = 8;
  private static final Layout NOTHING = new Layout(List.of());
  private static final UnsafeRow NO_INPUTS = new UnsafeRow(0);

  static {
    NO_INPUTS.pointTo(new byte[0], 0);
  }

  /** Who is told which version a row finds. */
  interface Found {
    void found(JoinRow row, JoinRow version);
  }

  private final boolean current;
  private final long lateness;
  private final long grain;
  private final int keyFields;
  private final Pages pages = new Pages(this);
  private final PageSweep sweep = new PageSweep(pages);
  private final ByteReader in = new ByteReader();
  private Brought brought;
  /** What is merged of those that were brought: keys, and the number that each has there. */
  private Partials keys;
  private int[] numbers;
  private int[] wanted = new int[64];
  /** How far time has come for rows that may still come. */
  private long reached;

  History(Program program) {
    current = program.lookup().current();
    lateness = program.lateness();
    grain = Math.max(lateness / GRAINS, LEAST_GRAIN);
    keyFields = program.key().size();
  }

  // ------------------------------------------------------------------ entering

  /** Enters the versions that an epoch brought; rows that wait for this epoch's watermark are none before {@code watermark}. */
  void enter(Cells cells, SlicedHeader header, Brought versions, long watermark) {
    brought = versions;
    reached = watermark;
    keys = new Partials(NOTHING, Math.max(8, versions.keys()));
    numbers = new int[versions.keys()];
    UnsafeRow key = new UnsafeRow(keyFields);
    for (int each = 0; each < versions.keys(); each++) {
      if (versions.from(each, RIGHT) < versions.to(each, RIGHT)) {
        versions.key(each, key);
        numbers[keys.size()] = each;
        keys.add(0, versions.hash(each), key, NO_INPUTS, new Position());
      }
    }
    if (keys.size() > 0) {
      Header.Part part = header.slice(RIGHT, 0).part;
      pages.merge(cells, NUMBER, part, keys);
      part.dirty.clear();
    }
    keys = null;
    brought = null;
  }

  @Override
  public long begin(Partials batch, int entry, ByteWriter out) {
    return write(merged(new ArrayList<>(), entry), out);
  }

  @Override
  public long merge(ByteReader stored, Partials batch, int entry, ByteWriter out) {
    return write(merged(read(stored), entry), out);
  }

  @Override
  public long size(Partials batch, int entry) {
    long size = 0;
    for (int number = brought.from(numbers[entry], RIGHT); number < brought.to(numbers[entry], RIGHT); number++) {
      size += ROW_BYTES + Math.max(0, brought.row(number).length);
    }
    return size;
  }

  /** The versions of a key with those that were brought for it: both are in order. */
  private List<JoinRow> merged(List<JoinRow> stored, int entry) {
    int from = brought.from(numbers[entry], RIGHT);
    int to = brought.to(numbers[entry], RIGHT);
    if (current) {
      return newest(from, to);
    }
    List<JoinRow> all = new ArrayList<>(stored.size() + to - from);
    int next = from;
    for (JoinRow version : stored) {
      while (next < to && JoinRow.BY_TIME.compare(brought.row(next), version) < 0) {
        all.add(brought.row(next++));
      }
      all.add(version);
    }
    while (next < to) {
      all.add(brought.row(next++));
    }
    return pruned(lastOfEachTime(all), reached);
  }

  /** The row that is there after the changes of an epoch; should a row have gone in one task and come in another, it has come. */
  private List<JoinRow> newest(int from, int to) {
    for (int number = to - 1; number >= from; number--) {
      if (!brought.row(number).isTombstone()) {
        return List.of(brought.row(number));
      }
    }
    return List.of();
  }

  private static List<JoinRow> lastOfEachTime(List<JoinRow> versions) {
    List<JoinRow> kept = new ArrayList<>(versions.size());
    for (JoinRow version : versions) {
      int last = kept.size() - 1;
      if (last >= 0 && kept.get(last).time == version.time) {
        kept.set(last, version);
      } else {
        kept.add(version);
      }
    }
    return kept;
  }

  // ------------------------------------------------------------------ finding

  /** Lets rows find their versions; those that find none are not told of. */
  void find(Cells cells, SlicedHeader header, Brought rows, Found found) {
    SlicedHeader.Slice slice = header.slices.get(RIGHT).get(0L);
    if (slice == null) {
      return;
    }
    int count = 0;
    wanted = wanted.length < rows.keys() ? new int[rows.keys()] : wanted;
    for (int each = 0; each < rows.keys(); each++) {
      if (rows.from(each, LEFT) < rows.to(each, LEFT) && !rows.isUnknown(each)) {
        wanted[count++] = Pages.address(Pages.mix(rows.hash(each)), slice.part.pages);
      }
    }
    Arrays.sort(wanted, 0, count);
    for (int i = 0; i < count; i++) {
      if (i == 0 || wanted[i] != wanted[i - 1]) {
        find(pages.get(cells, NUMBER, wanted[i]), rows, found);
      }
    }
  }

  private void find(byte[] content, Brought rows, Found found) {
    if (content == null) {
      return;
    }
    version(content);
    while (in.hasRemaining()) {
      int length = in.readLength();
      long address = in.address();
      in.skip(length);
      int end = in.readLength() + in.position();
      int entry = rows.find(Partials.hash(content, address, length), content, address, length);
      if (entry >= 0 && !rows.isUnknown(entry)) {
        find(read(in), rows, rows.from(entry, LEFT), rows.to(entry, LEFT), found);
      }
      in.skip(end - in.position());
    }
  }

  /** Both are in the order of time: a key with many rows and many versions is gone through once. */
  private void find(List<JoinRow> versions, Brought rows, int from, int to, Found found) {
    int next = 0;
    for (int number = from; number < to; number++) {
      JoinRow row = rows.row(number);
      while (next < versions.size() && (current || versions.get(next).time <= row.time)) {
        next++;
      }
      if (next > 0 && !versions.get(next - 1).isTombstone()) {
        found.found(row, versions.get(next - 1));
      }
    }
  }

  // ------------------------------------------------------------------ forgetting

  /** Lets go what nobody who comes in time can see any more; at the end of time, all. */
  void forget(Cells cells, SlicedHeader header) {
    SlicedHeader.Slice slice = header.slices.get(RIGHT).get(0L);
    if (slice == null) {
      return;
    }
    reached = header.watermark;
    Header.Part part = slice.part;
    if (reached == Context.END && !current) {
      pages.drop(cells, NUMBER, part);
      part.keys = 0;
    } else {
      for (int page = 0; page < part.pages; page++) {
        if (part.due(page) <= reached) {
          sweep.sweep(cells, NUMBER, page, part, this::look);
        }
      }
    }
    if (part.keys == 0) {
      header.slices.get(RIGHT).remove(0L);
    }
  }

  private long look(byte[] content, long address, int length, ByteReader body, ByteWriter out) {
    List<JoinRow> versions = read(body);
    versions = current ? versions : pruned(versions, reached);
    if (versions.isEmpty() || !current && forgotten(versions)) {
      return NEVER;
    }
    return write(versions, out);
  }

  /** Those that a row of this time or a later one may see, were time to have come so far. */
  private List<JoinRow> pruned(List<JoinRow> versions, long watermark) {
    int first = 0;
    while (first + 1 < versions.size() && over(versions.get(first + 1).time, watermark)) {
      first++;
    }
    return versions.subList(first, versions.size());
  }

  private boolean forgotten(List<JoinRow> versions) {
    return versions.size() == 1 && versions.get(0).isTombstone() && over(versions.get(0).time, reached);
  }

  /** Whether nobody who is before a time comes any more. */
  private boolean over(long time, long watermark) {
    return watermark != Context.NO_WATERMARK && watermark >= after(time, lateness);
  }

  private static long after(long time, long length) {
    return time > Long.MAX_VALUE - length ? Long.MAX_VALUE : time + length;
  }

  /** When a look at a key lets go something of it. */
  private long due(List<JoinRow> versions) {
    if (current) {
      // Keys without a row go at once.
      return versions.isEmpty() ? Context.NO_WATERMARK : NEVER;
    }
    JoinRow last = versions.get(versions.size() - 1);
    long forgets = last.isTombstone() ? after(last.time, lateness) : NEVER;
    long follows = versions.size() < 2 ? NEVER : after(after(versions.get(1).time, lateness), grain);
    // On a grid, so that what a page has to let go is let go together.
    return Math.min(forgets, follows == NEVER ? NEVER : Math.floorDiv(follows, grain) * grain);
  }

  // ------------------------------------------------------------------ bytes

  private long write(List<JoinRow> versions, ByteWriter out) {
    out.writeUnsigned(versions.size());
    for (JoinRow version : versions) {
      out.writeSigned(version.time);
      out.writeSigned(version.source);
      out.writeUnsigned(version.partition);
      out.writeSigned(version.offset);
      out.writeUnsigned(version.length + 1L);
      if (!version.isTombstone()) {
        out.writeRaw(version.bytes(), version.columnsAt(), version.length);
      }
    }
    return due(versions);
  }

  private static List<JoinRow> read(ByteReader from) {
    int count = from.readLength();
    List<JoinRow> versions = new ArrayList<>(count + 1);
    for (int i = 0; i < count; i++) {
      long time = from.readSigned();
      int source = (int) from.readSigned();
      int partition = (int) from.readUnsigned();
      long offset = from.readSigned();
      int length = from.readLength() - 1;
      versions.add(new JoinRow(time, source, partition, offset, from.array(), 0, 0, from.position(), length));
      from.skip(Math.max(0, length));
    }
    return versions;
  }

  private void version(byte[] content) {
    in.over(content);
    int version = in.readByte();
    if (version != Partials.VERSION) {
      throw new IllegalStateException("versions in format " + version + ", this version of headrace reads " + Partials.VERSION);
    }
  }
}
