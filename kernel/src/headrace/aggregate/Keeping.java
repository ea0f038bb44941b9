package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.Locale;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * An aggregate that keeps values, up to a limit. Past it nothing is kept any more, and the result is that there were too many.
 *
 * <p>How many there are only grows, whatever the order of events and merges; so whether the limit is passed depends on the events alone.
 */
abstract class Keeping<C> extends Aggregate {
  static final int LIMIT = 10_000;
  private static final Object TOO_MANY = new Object();
  private final int limit;

  Keeping(String name, int limit) {
    super(name);
    this.limit = limit;
  }

  abstract C empty();

  abstract int size(C kept);

  /** Takes a row's value in, and tells about how much memory that took. */
  abstract int take(C kept, UnsafeRow inputs, Position position);

  abstract void takeAll(C into, C from);

  abstract void writeAll(C kept, ByteWriter out);

  abstract void readAll(C kept, int size, ByteReader in);

  abstract Object resultOf(C kept);

  @Override
  public final int words() {
    return 0;
  }

  @Override
  public final int objects() {
    return 1;
  }

  @SuppressWarnings("unchecked")
  private C kept(Slots slots) {
    return (C) slots.objects[object(slots)];
  }

  private boolean isOver(Slots slots) {
    return slots.objects[object(slots)] == TOO_MANY;
  }

  @Override
  public final void add(Slots slots, UnsafeRow inputs, Position position) {
    if (!isOver(slots)) {
      slots.grown += take(begun(slots), inputs, position);
      bound(slots);
    }
  }

  private C begun(Slots slots) {
    if (slots.objects[object(slots)] == null) {
      slots.objects[object(slots)] = empty();
    }
    return kept(slots);
  }

  private void bound(Slots slots) {
    if (size(kept(slots)) > limit) {
      slots.objects[object(slots)] = TOO_MANY;
    }
  }

  @Override
  public final void merge(Slots into, Slots from) {
    if (isOver(into) || from.objects[object(from)] == null) {
      return;
    }
    if (isOver(from)) {
      into.objects[object(into)] = TOO_MANY;
      return;
    }
    takeAll(begun(into), kept(from));
    bound(into);
  }

  /** First how many there are, and one; 0 is too many. */
  @Override
  public final void write(Slots slots, ByteWriter out) {
    if (isOver(slots)) {
      out.writeUnsigned(0);
    } else {
      C kept = kept(slots);
      out.writeUnsigned(kept == null ? 1 : size(kept) + 1L);
      if (kept != null) {
        writeAll(kept, out);
      }
    }
  }

  @Override
  public final void read(Slots slots, ByteReader in) {
    int size = in.readLength() - 1;
    if (size < 0) {
      slots.objects[object(slots)] = TOO_MANY;
    } else if (size > 0) {
      readAll(begun(slots), size, in);
    }
  }

  @Override
  public final Object result(Slots slots) {
    if (isOver(slots)) {
      return new Unfit(String.format(Locale.ROOT, "has more than %,d value%s", limit, limit == 1 ? "" : "s"));
    }
    return resultOf(begun(slots));
  }
}
