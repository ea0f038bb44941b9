package headrace.step;

import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/**
 * The keys that many of one task's rows have: Space-Saving over a sample of the rows.
 *
 * <p>The first rows all count, of later ones one of {@value #EVERY} on average, for as many. The gaps between those are random: keys that
 * go round in turn, as generated ones do, must not fall in step with the sample. What is told of a key is a lower bound, so that of many
 * even keys none is told.
 */
public final class HotKeys {
  static final int KEPT = 32;
  static final int EXACT = 4_096;
  static final int EVERY = 32;
  /** Longer keys are not looked at: what is kept is bounded. */
  static final int LONGEST = 1_024;
  private static final int TOLD_PART = 64;

  private final int[] hashes = new int[KEPT];
  private final byte[][] keys = new byte[KEPT][];
  private final long[] counts = new long[KEPT];
  /** How much of a count may be of the keys that had the place before. */
  private final long[] others = new long[KEPT];
  private int size;
  private int taken;
  private long weighed;
  private int random = 0x2545F491;
  private int until = 1;

  /** Who is told of a key. */
  public interface Told {
    void key(byte[] key, long rows);
  }

  /** Takes a row; the key is read only when it is one of the sample. */
  public void row(int hash, UnsafeRow key) {
    if (--until == 0) {
      sample(hash, key);
    }
  }

  private void sample(int hash, UnsafeRow key) {
    boolean exact = ++taken <= EXACT;
    int weight = exact ? 1 : EVERY;
    until = taken < EXACT ? 1 : gap();
    weighed += weight;
    if (key.getSizeInBytes() > LONGEST) {
      return;
    }
    int place = find(hash, key);
    if (place < 0) {
      place = place();
      others[place] = counts[place];
      hashes[place] = hash;
      keys[place] = key.copy().getBytes();
    }
    counts[place] += weight;
  }

  /** From 1 to 63, 32 on average. */
  private int gap() {
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    return 1 + (random >>> 8) % (2 * EVERY - 1);
  }

  private int find(int hash, UnsafeRow key) {
    for (int place = 0; place < size; place++) {
      if (hashes[place] == hash && equal(keys[place], key)) {
        return place;
      }
    }
    return -1;
  }

  private static boolean equal(byte[] known, UnsafeRow key) {
    if (known.length != key.getSizeInBytes()) {
      return false;
    }
    for (int at = 0; at < known.length; at++) {
      if (known[at] != Platform.getByte(key.getBaseObject(), key.getBaseOffset() + at)) {
        return false;
      }
    }
    return true;
  }

  /** A free place, else that of the key with the fewest rows. */
  private int place() {
    if (size < KEPT) {
      return size++;
    }
    int least = 0;
    for (int place = 1; place < KEPT; place++) {
      if (counts[place] < counts[least]) {
        least = place;
      }
    }
    return least;
  }

  /** A bit for the hash of each key that may be hot, by the hash's last six bits; other keys may share it. */
  public long marks() {
    long marks = 0;
    for (int place = 0; place < size; place++) {
      marks |= isHot(place) ? 1L << hashes[place] : 0;
    }
    return marks;
  }

  private boolean isHot(int place) {
    return (counts[place] - others[place]) * TOLD_PART >= weighed;
  }

  /** Tells of the keys that may be hot: how many rows each has at least. */
  public void tell(Told told) {
    for (int place = 0; place < size; place++) {
      if (isHot(place)) {
        told.key(keys[place], counts[place] - others[place]);
      }
    }
  }
}
