package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.array.ByteArrayMethods;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * Accumulators by (number of a slice, key bytes): an open hash map in flat arrays that allocates nothing per row.
 *
 * <p>Entries are numbered as they come, which makes every walk over them as deterministic as the rows were. An entry in bytes is the
 * key's length and bytes, then the accumulators' length and bytes; a run of entries follows one version byte.
 */
public final class Partials {
  public static final int VERSION = 1;
  private static final int SEED = 42;
  private static final int ENTRY_BYTES = 40;
  private static final int OBJECT_BYTES = 64;

  private final Layout layout;
  private final Slots cursor = new Slots();
  private final Slots scratch;
  private final ByteWriter measure = new ByteWriter(64);
  private int[] table;
  private int size;
  private long[] starts;
  private int[] hashes;
  private int[] keyAt;
  private int[] keyLength;
  private long[] places;
  private long[] offsets;
  private byte[] keys = new byte[256];
  private int keysSize;
  private long[] words;
  private Object[] objects;

  public Partials(Layout layout, int expected) {
    this.layout = layout;
    this.scratch = layout.scratch();
    int capacity = Math.max(8, expected);
    table = new int[Integer.highestOneBit(2 * capacity - 1) * 2];
    starts = new long[capacity];
    hashes = new int[capacity];
    keyAt = new int[capacity];
    keyLength = new int[capacity];
    places = new long[capacity];
    offsets = new long[capacity];
    words = new long[capacity * layout.words()];
    objects = new Object[capacity * layout.objects()];
  }

  /** The hash of a key's bytes: it decides the key's group and page, so it is part of the checkpoint's format. */
  public static int hash(Object base, long offset, int length) {
    return Murmur3_x86_32.hashUnsafeWords(base, offset, length, SEED);
  }

  public int size() {
    return size;
  }

  /** About how much memory the entries take. */
  public long bytes() {
    return (long) size * (ENTRY_BYTES + layout.words() * Long.BYTES + layout.objects() * OBJECT_BYTES) + keysSize + cursor.grown;
  }

  public long start(int entry) {
    return starts[entry];
  }

  public int hash(int entry) {
    return hashes[entry];
  }

  /** Source and partition of the entry's first row, as one number that orders as they do. */
  public long place(int entry) {
    return places[entry];
  }

  public long offset(int entry) {
    return offsets[entry];
  }

  public static long place(int source, int partition) {
    return (long) source << 32 | partition & 0xFFFFFFFFL;
  }

  public Slots slots(int entry) {
    return cursor.at(words, entry * layout.words(), objects, entry * layout.objects());
  }

  /** The entry of the key, or -1. */
  public int find(long start, int hash, Object base, long offset, int length) {
    int mask = table.length - 1;
    for (int at = spread(start, hash) & mask; table[at] != 0; at = at + 1 & mask) {
      int entry = table[at] - 1;
      if (is(entry, start, hash, base, offset, length)) {
        return entry;
      }
    }
    return -1;
  }

  /** The entry of the key where all entries are of one window or slice, or -1. */
  public int find(int hash, Object base, long offset, int length) {
    return size == 0 ? -1 : find(starts[0], hash, base, offset, length);
  }

  /** Adds one row to its key's entry. */
  public void add(long start, int hash, UnsafeRow key, UnsafeRow inputs, Position position) {
    layout.add(slots(entry(start, hash, key, position)), inputs, position);
  }

  /** Takes one row back from its key's entry, or from what the entry will be merged with. */
  public void retract(long start, int hash, UnsafeRow key, UnsafeRow inputs, Position position) {
    layout.retract(slots(entry(start, hash, key, position)), inputs, position);
  }

  private int entry(long start, int hash, UnsafeRow key, Position position) {
    Object base = key.getBaseObject();
    int entry = find(start, hash, base, key.getBaseOffset(), key.getSizeInBytes());
    long place = place(position.source, position.partition);
    if (entry < 0) {
      entry = create(start, hash, base, key.getBaseOffset(), key.getSizeInBytes(), place, position.offset);
    } else if (place < places[entry] || place == places[entry] && position.offset < offsets[entry]) {
      places[entry] = place;
      offsets[entry] = position.offset;
    }
    return entry;
  }

  /** Merges a run of entries of one window, which come after what is here; tells how many rows they hold. */
  public long addAll(long start, byte[] entries) {
    long rows = 0;
    ByteReader in = open(entries);
    while (in.hasRemaining()) {
      int length = in.readLength();
      long address = in.address();
      in.skip(length);
      in.readLength();
      int hash = hash(entries, address, length);
      int entry = find(start, hash, entries, address, length);
      if (entry < 0) {
        Slots fresh = slots(create(start, hash, entries, address, length, 0, 0));
        layout.read(fresh, in);
        rows += layout.rows(fresh);
      } else {
        layout.clear(scratch);
        layout.read(scratch, in);
        rows += layout.rows(scratch);
        layout.merge(slots(entry), scratch);
      }
    }
    return rows;
  }

  /** A reader behind the version byte of a run of entries. */
  public static ByteReader open(byte[] entries) {
    ByteReader in = new ByteReader().over(entries);
    int version = in.readByte();
    if (version != VERSION) {
      throw new IllegalStateException("accumulators in format " + version + ", this version of headrace reads " + VERSION);
    }
    return in;
  }

  /** Points a row at an entry's key; it holds until the next entry is made. */
  public void key(int entry, UnsafeRow row) {
    row.pointTo(keys, Platform.BYTE_ARRAY_OFFSET + (long) keyAt[entry], keyLength[entry]);
  }

  /** The length and the bytes of an entry's key. */
  public void writeKey(int entry, ByteWriter out) {
    out.writeUnsigned(keyLength[entry]);
    out.writeRaw(keys, keyAt[entry], keyLength[entry]);
  }

  public void write(int entry, ByteWriter out) {
    writeKey(entry, out);
    int begin = out.beginLength();
    layout.write(slots(entry), out);
    out.endLength(begin);
  }

  /** How many bytes an entry takes when written. */
  public int size(int entry) {
    measure.clear();
    write(entry, measure);
    return measure.size();
  }

  /** Empties it and keeps its arrays. */
  public void clear() {
    Arrays.fill(table, 0);
    Arrays.fill(words, 0, size * layout.words(), 0L);
    Arrays.fill(objects, 0, size * layout.objects(), null);
    size = 0;
    keysSize = 0;
    cursor.grown = 0;
  }

  private static int spread(long start, int hash) {
    int mixed = (hash ^ Long.hashCode(start * 0x9E3779B97F4A7C15L)) * 0x9E3779B9;
    return mixed ^ mixed >>> 15;
  }

  private boolean is(int entry, long start, int hash, Object base, long offset, int length) {
    return hashes[entry] == hash && starts[entry] == start && keyLength[entry] == length
        && ByteArrayMethods.arrayEquals(keys, Platform.BYTE_ARRAY_OFFSET + (long) keyAt[entry], base, offset, length);
  }

  private int create(long start, int hash, Object base, long offset, int length, long place, long position) {
    if (size == starts.length) {
      grow();
    }
    int entry = size++;
    if (keysSize + length > keys.length) {
      keys = Arrays.copyOf(keys, Math.max(keysSize + length, keys.length * 2));
    }
    Platform.copyMemory(base, offset, keys, Platform.BYTE_ARRAY_OFFSET + (long) keysSize, length);
    starts[entry] = start;
    hashes[entry] = hash;
    keyAt[entry] = keysSize;
    keyLength[entry] = length;
    places[entry] = place;
    offsets[entry] = position;
    keysSize += length;
    enter(entry);
    return entry;
  }

  private void enter(int entry) {
    int mask = table.length - 1;
    int at = spread(starts[entry], hashes[entry]) & mask;
    while (table[at] != 0) {
      at = at + 1 & mask;
    }
    table[at] = entry + 1;
  }

  private void grow() {
    int capacity = starts.length * 2;
    starts = Arrays.copyOf(starts, capacity);
    hashes = Arrays.copyOf(hashes, capacity);
    keyAt = Arrays.copyOf(keyAt, capacity);
    keyLength = Arrays.copyOf(keyLength, capacity);
    places = Arrays.copyOf(places, capacity);
    offsets = Arrays.copyOf(offsets, capacity);
    words = Arrays.copyOf(words, Math.multiplyExact(capacity, layout.words()));
    objects = Arrays.copyOf(objects, capacity * layout.objects());
    table = new int[table.length * 2];
    for (int entry = 0; entry < size; entry++) {
      enter(entry);
    }
  }
}
