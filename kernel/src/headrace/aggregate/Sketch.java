package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.Locale;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;

/**
 * Any aggregate that Spark ships with a buffer of its own that can be merged and serialised: sketches, percentiles, their unions.
 *
 * <p>Buffers go exactly the way that Spark takes them: rows into a fresh one; that one serialised; what was serialised merged into
 * another fresh one. Many of them refuse, or silently share, what comes another way. So two objects are kept: what is settled (bytes, a
 * buffer that only merges, or why there is none), and a buffer that takes rows.
 */
final class Sketch<T> extends Aggregate {
  private static final int NOTHING = 0;
  private static final int BYTES = 1;
  private static final int FAILED = 2;
  private final SketchSpec spec;
  private final TypedImperativeAggregate<T> function;
  private final int ordinal;

  private record Merging<T>(T buffer) {}

  Sketch(String name, SketchSpec spec, TypedImperativeAggregate<T> function, int ordinal) {
    super(name);
    this.spec = spec;
    this.function = function;
    this.ordinal = ordinal;
  }

  @Override
  public int words() {
    return 0;
  }

  @Override
  public int objects() {
    return 2;
  }

  @Override
  public String codec() {
    return spec.codec();
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    int at = object(slots);
    if (slots.objects[at] instanceof Unfit || spec.skips(inputs, ordinal)) {
      return;
    }
    try {
      if (slots.objects[at + 1] == null) {
        slots.objects[at + 1] = function.createAggregationBuffer();
        slots.grown += spec.memory();
      }
      slots.objects[at + 1] = function.update(taking(slots), inputs);
    } catch (Exception e) {
      fail(slots, e);
    }
  }

  @SuppressWarnings("unchecked")
  private T taking(Slots slots) {
    return (T) slots.objects[object(slots) + 1];
  }

  /** One value that it cannot take must not stop the others' windows. */
  private void fail(Slots slots, Exception why) {
    String said = String.valueOf(why.getMessage()).lines().findFirst().orElse("");
    settle(slots, new Unfit("failed: " + (said.isBlank() ? why.getClass().getSimpleName() : said)));
  }

  private void settle(Slots slots, Object settled) {
    slots.objects[object(slots)] = settled;
    slots.objects[object(slots) + 1] = null;
  }

  /** All that the slots hold as bytes, null for nothing, or {@link Unfit}; the slots then hold it like that. */
  private Object settled(Slots slots) {
    if (taking(slots) != null) {
      try {
        byte[] taken = function.serialize(taking(slots));
        settle(slots, slots.objects[object(slots)] == null ? taken : merged(slots, taken));
      } catch (Exception e) {
        fail(slots, e);
      }
    }
    Object settled = slots.objects[object(slots)];
    if (settled instanceof Merging<?> merging) {
      @SuppressWarnings("unchecked")
      byte[] bytes = function.serialize((T) merging.buffer());
      settle(slots, bytes);
      return bytes;
    }
    return settled;
  }

  @SuppressWarnings("unchecked")
  private Merging<T> merged(Slots slots, byte[] more) {
    Object settled = slots.objects[object(slots)];
    T buffer = settled instanceof Merging<?> merging ? (T) merging.buffer() : joined(function.createAggregationBuffer(), (byte[]) settled);
    return new Merging<>(joined(buffer, more));
  }

  private T joined(T buffer, byte[] more) {
    return function.merge(buffer, function.deserialize(more));
  }

  @Override
  public void merge(Slots into, Slots from) {
    Object more = settled(from);
    int at = object(into);
    if (more == null || into.objects[at] instanceof Unfit) {
      return;
    }
    if (more instanceof Unfit) {
      settle(into, more);
      return;
    }
    try {
      if (taking(into) != null) {
        settled(into);
      }
      if (!(into.objects[at] instanceof Unfit)) {
        settle(into, into.objects[at] == null ? more : merged(into, (byte[]) more));
      }
    } catch (Exception e) {
      fail(into, e);
    }
  }

  @Override
  public void write(Slots slots, ByteWriter out) {
    Object settled = settled(slots);
    if (settled == null) {
      out.writeByte(NOTHING);
    } else if (settled instanceof Unfit unfit) {
      out.writeByte(FAILED);
      out.writeBytes(unfit.how().getBytes(java.nio.charset.StandardCharsets.UTF_8));
    } else {
      out.writeByte(BYTES);
      out.writeBytes((byte[]) settled);
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    int kind = in.readByte();
    switch (kind) {
      case NOTHING -> { }
      case BYTES -> slots.objects[object(slots)] = in.readBytes();
      case FAILED -> slots.objects[object(slots)] = new Unfit(new String(in.readBytes(), java.nio.charset.StandardCharsets.UTF_8));
      default -> throw new IllegalStateException(String.format(Locale.ROOT, "a stored sketch begins with %d", kind));
    }
  }

  @Override
  public Object result(Slots slots) {
    Object settled = settled(slots);
    if (settled instanceof Unfit) {
      return settled;
    }
    try {
      T buffer = function.createAggregationBuffer();
      return function.eval(settled == null ? buffer : joined(buffer, (byte[]) settled));
    } catch (Exception e) {
      fail(slots, e);
      return slots.objects[object(slots)];
    }
  }
}
