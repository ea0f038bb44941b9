package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * The rows that an epoch brings to a join: by key, each key's by side, and those by time.
 *
 * <p>Keys are numbered as they come. Once {@link #sort} was called, the rows of a key and side are in one stretch of numbers.
 */
final class Brought {
  private static final Layout NOTHING = new Layout(List.of());
  private static final int SIDES = 2;
  private static final UnsafeRow NO_INPUTS = new UnsafeRow(0);

  static {
    NO_INPUTS.pointTo(new byte[0], 0);
  }

  private final Comparator<JoinRow> order;
  private final Partials keys = new Partials(NOTHING, 64);
  private final Position nowhere = new Position();
  private final BitSet unknown = new BitSet();
  private final List<JoinRow> rows = new ArrayList<>();
  private int[] places = new int[64];
  private int[] from = {0};
  private JoinRow[] sorted = {};

  Brought() {
    this(JoinRow.BY_TIME);
  }

  /** {@code order}: what the rows of a key and side are ordered by; it begins with their times. */
  Brought(Comparator<JoinRow> order) {
    this.order = order;
  }

  void clear() {
    keys.clear();
    rows.clear();
    unknown.clear();
    from = new int[] {0};
  }

  void add(int side, UnsafeRow key, JoinRow row) {
    int hash = Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    int entry = find(hash, key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    if (entry < 0) {
      entry = keys.size();
      keys.add(0, hash, key, NO_INPUTS, nowhere);
      unknown.set(entry, key.anyNull());
    }
    if (rows.size() == places.length) {
      places = Arrays.copyOf(places, 2 * places.length);
    }
    places[rows.size()] = SIDES * entry + side;
    rows.add(row);
  }

  /** Puts the rows into order. */
  void sort() {
    from = new int[SIDES * keys.size() + 1];
    for (int i = 0; i < rows.size(); i++) {
      from[places[i] + 1]++;
    }
    for (int place = 1; place < from.length; place++) {
      from[place] += from[place - 1];
    }
    int[] next = from.clone();
    sorted = new JoinRow[rows.size()];
    for (int i = 0; i < sorted.length; i++) {
      sorted[next[places[i]]++] = rows.get(i);
    }
    for (int place = 1; place < from.length; place++) {
      if (from[place] - from[place - 1] > 1) {
        Arrays.sort(sorted, from[place - 1], from[place], order);
      }
    }
    rows.clear();
  }

  /** The keys, numbered as they are here. */
  Partials batch() {
    return keys;
  }

  /** How many keys there are. */
  int keys() {
    return keys.size();
  }

  /** How many rows there are, once they are sorted. */
  int size() {
    return sorted.length;
  }

  int hash(int key) {
    return keys.hash(key);
  }

  /** The number of a key, or -1. */
  int find(int hash, Object base, long address, int length) {
    return keys.find(hash, base, address, length);
  }

  /** Whether a part of the key is null: then it is equal to no other. */
  boolean isUnknown(int key) {
    return unknown.get(key);
  }

  void key(int number, UnsafeRow row) {
    keys.key(number, row);
  }

  /** The first row of a key and side. */
  int from(int key, int side) {
    return from[SIDES * key + side];
  }

  /** Behind the last row of a key and side. */
  int to(int key, int side) {
    return from[SIDES * key + side + 1];
  }

  JoinRow row(int number) {
    return sorted[number];
  }

  /** The first row of a stretch that is not before a time, or its end. */
  int first(int begin, int end, long time) {
    int low = begin;
    int high = end;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sorted[middle].time < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
