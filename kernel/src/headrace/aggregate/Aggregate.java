package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * One aggregate function of one column: what it keeps per key, and how that grows, joins, is stored and ends.
 *
 * <p>It owns {@link #words()} numbers and {@link #objects()} objects of each key's slots, all zero or null at the start. Adding events
 * one by one, or adding them in two halves and merging these, must end in the same result.
 */
public abstract class Aggregate {
  /** The result when the value does not fit the result's type. */
  public static final Unfit OVERFLOW = new Unfit("overflowed");

  private final String name;
  private int word;
  private int object;

  protected Aggregate(String name) {
    this.name = name;
  }

  public final String name() {
    return name;
  }

  final void place(int firstWord, int firstObject) {
    word = firstWord;
    object = firstObject;
  }

  /** The index of this aggregate's first number. */
  protected final int word(Slots slots) {
    return slots.word + word;
  }

  /** The index of this aggregate's first object. */
  protected final int object(Slots slots) {
    return slots.object + object;
  }

  public abstract int words();

  public int objects() {
    return 0;
  }

  /** What the stored bytes depend on beside the name, for instance {@code sum(decimal(12,2))}. */
  public abstract String codec();

  public abstract void add(Slots slots, UnsafeRow inputs, Position position);

  /** Whether {@link #retract} is there: whether a row that was added can be taken back, as if it had never come. */
  public boolean retracts() {
    return false;
  }

  /** Takes a row back that was added. */
  public void retract(Slots slots, UnsafeRow inputs, Position position) {
    throw new UnsupportedOperationException("the aggregate '" + name + "' cannot take a row back");
  }

  /** Joins what {@code from} holds, which was added after what {@code into} holds. */
  public abstract void merge(Slots into, Slots from);

  public abstract void write(Slots slots, ByteWriter out);

  /** Reads into slots that are in the starting state. */
  public abstract void read(Slots slots, ByteReader in);

  /** The catalyst value, null, or an {@link Unfit}. */
  public abstract Object result(Slots slots);
}
