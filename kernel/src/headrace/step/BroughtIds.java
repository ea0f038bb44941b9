package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * The rows that an epoch brings of one slice of event time, by their ids, and which of them pass.
 *
 * <p>Rows of one id are chained from the last back: nearly every id has one, and a list for each would be most of the garbage.
 */
final class BroughtIds {
  private static final int NONE = -1;
  private static final int[] NO_CHAIN = {};
  private static final Layout NOTHING = new Layout(List.of());
  private static final UnsafeRow NO_INPUTS = new UnsafeRow(0);
  private static final Comparator<Output> BY_TIME = Comparator.comparingLong(Output::time).thenComparingInt(Output::source)
      .thenComparingInt(Output::partition).thenComparingLong(Output::offset);

  static {
    NO_INPUTS.pointTo(new byte[0], 0);
  }

  private final Partials keys = new Partials(NOTHING, 64);
  private final Position nowhere = new Position();
  private final List<Output> rows = new ArrayList<>();
  private final BitSet passed = new BitSet();
  private final int[] only = new int[1];
  private long start;
  private long first;
  private long last;
  private int[] latest = new int[64];
  private int[] before = new int[64];
  /** Times of rows that passed in earlier epochs, chained likewise; nothing while there are none. */
  private int[] recalled = NO_CHAIN;
  private int[] recalledBefore = NO_CHAIN;
  private long[] times = {};
  private int recalls;

  /** Makes these the ids of a slice that begins then. */
  BroughtIds of(long begin) {
    start = begin;
    first = Long.MAX_VALUE;
    last = Long.MIN_VALUE;
    return this;
  }

  void clear() {
    keys.clear();
    rows.clear();
    passed.clear();
    recalled = NO_CHAIN;
    recalls = 0;
  }

  long start() {
    return start;
  }

  /** The time of the first row. */
  long first() {
    return first;
  }

  /** The time of the last row. */
  long last() {
    return last;
  }

  // ------------------------------------------------------------------ ids

  /** How many ids there are. */
  int size() {
    return keys.size();
  }

  int hash(int entry) {
    return keys.hash(entry);
  }

  void key(int entry, UnsafeRow row) {
    keys.key(entry, row);
  }

  /** The number of an id, or -1. */
  int find(int hash, Object base, long address, int length) {
    return keys.find(0, hash, base, address, length);
  }

  // ------------------------------------------------------------------ rows

  void add(UnsafeRow key, Output row) {
    int hash = Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    int entry = find(hash, key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    if (entry < 0) {
      entry = keys.size();
      keys.add(0, hash, key, NO_INPUTS, nowhere);
      latest = entry < latest.length ? latest : Arrays.copyOf(latest, 2 * entry);
      latest[entry] = NONE;
    }
    int number = rows.size();
    before = number < before.length ? before : Arrays.copyOf(before, 2 * number);
    before[number] = latest[entry];
    latest[entry] = number;
    rows.add(row);
    first = Math.min(first, row.time());
    last = Math.max(last, row.time());
  }

  Output row(int number) {
    return rows.get(number);
  }

  /** The numbers of an id's rows by time, then position; they hold until the next id is asked for. */
  int[] byTime(int entry) {
    int number = latest[entry];
    if (before[number] == NONE) {
      only[0] = number;
      return only;
    }
    List<Integer> numbers = new ArrayList<>();
    for (; number != NONE; number = before[number]) {
      numbers.add(number);
    }
    numbers.sort(Comparator.comparing(rows::get, BY_TIME));
    return numbers.stream().mapToInt(Integer::intValue).toArray();
  }

  // ------------------------------------------------------------------ what has passed

  /** A row of an id passed at this time in an earlier epoch. */
  void recall(int entry, long time) {
    if (recalled.length == 0) {
      recalled = new int[keys.size()];
      Arrays.fill(recalled, NONE);
    }
    if (recalls == times.length) {
      times = Arrays.copyOf(times, Math.max(16, 2 * recalls));
      recalledBefore = Arrays.copyOf(recalledBefore, times.length);
    }
    times[recalls] = time;
    recalledBefore[recalls] = recalled[entry];
    recalled[entry] = recalls++;
  }

  /** A row passes now. */
  void pass(int number) {
    passed.set(number);
  }

  /** Whether a row of an id has passed that is no farther from a time, now or earlier. */
  boolean hasNear(int entry, long time, long within) {
    if (recalled.length > 0) {
      for (int each = recalled[entry]; each != NONE; each = recalledBefore[each]) {
        if (isNear(times[each], time, within)) {
          return true;
        }
      }
    }
    return hasPassed(entry, time, within);
  }

  /** Whether a row of an id passes now that is no farther from a time. */
  boolean hasPassed(int entry, long time, long within) {
    for (int number = latest[entry]; number != NONE; number = before[number]) {
      if (passed.get(number) && isNear(rows.get(number).time(), time, within)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isNear(long one, long other, long within) {
    // Farther apart than a number can tell is far.
    long apart = Math.max(one, other) - Math.min(one, other);
    return apart >= 0 && apart <= within;
  }

  // ------------------------------------------------------------------ what is held of it

  /** The ids of which rows pass, and when. */
  Passed passed() {
    if (passed.cardinality() == rows.size()) {
      return new Passed(keys, null);
    }
    Partials some = new Partials(NOTHING, Math.max(1, passed.cardinality()));
    int[] origins = new int[keys.size()];
    UnsafeRow key = new UnsafeRow(0);
    for (int entry = 0; entry < keys.size(); entry++) {
      if (times(entry) > 0) {
        keys.key(entry, key);
        origins[some.size()] = entry;
        some.add(0, keys.hash(entry), key, NO_INPUTS, nowhere);
      }
    }
    return new Passed(some, origins);
  }

  private int times(int entry) {
    int count = 0;
    for (int number = latest[entry]; number != NONE; number = before[number]) {
      count += passed.get(number) ? 1 : 0;
    }
    return count;
  }

  /** Ids, and when rows of them pass. */
  final class Passed {
    private final Partials ids;
    private final int[] origins;

    private Passed(Partials ids, int[] origins) {
      this.ids = ids;
      this.origins = origins;
    }

    Partials keys() {
      return ids;
    }

    int size() {
      return ids.size();
    }

    /** The time of the last row that passes, or a later one. */
    long last() {
      return last;
    }

    /** How many rows of an id pass. */
    int times(int entry) {
      return BroughtIds.this.times(origin(entry));
    }

    /** Writes when rows of an id pass, since the slice began. */
    void write(int entry, ByteWriter out) {
      for (int number = latest[origin(entry)]; number != NONE; number = before[number]) {
        if (passed.get(number)) {
          out.writeUnsigned(rows.get(number).time() - start);
        }
      }
    }

    private int origin(int entry) {
      return origins == null ? entry : origins[entry];
    }
  }
}
