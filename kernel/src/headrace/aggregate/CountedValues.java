package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;

/**
 * Every value with how often it is there: what {@code min}, {@code max} and {@code count_distinct} need where rows are taken back.
 *
 * <p>In what was combined before the shuffle a value may be there less than no times. Past the limit of a distinct count its result is
 * that there are too many; the values are kept all the same, so that it comes back when rows go.
 */
final class CountedValues extends Aggregate {
  static final Set<String> KINDS = Set.of("min", "max", "bool_and", "bool_or", "count_distinct");
  private final String kind;
  private final int ordinal;
  private final DataType type;
  private final int columns;
  private final int limit;
  private final Held held;

  CountedValues(String name, String kind, int ordinal, DataType type, int columns, int limit) {
    super(name);
    this.kind = kind;
    this.ordinal = ordinal;
    this.type = type;
    this.columns = columns;
    this.limit = limit;
    held = new Held(type, ordinal, kind.equals("count_distinct"));
  }

  @Override
  public int words() {
    return 0;
  }

  @Override
  public int objects() {
    return 1;
  }

  @Override
  public String codec() {
    return kind + "(" + (columns > 1 ? columns + "," : "") + type.catalogString() + ",counted)";
  }

  @SuppressWarnings("unchecked")
  private Map<Object, Long> values(Slots slots) {
    Map<Object, Long> values = (Map<Object, Long>) slots.objects[object(slots)];
    if (values == null) {
      values = new HashMap<>();
      slots.objects[object(slots)] = values;
    }
    return values;
  }

  @Override
  public void add(Slots slots, UnsafeRow inputs, Position position) {
    count(slots, inputs, 1);
  }

  @Override
  public boolean retracts() {
    return true;
  }

  @Override
  public void retract(Slots slots, UnsafeRow inputs, Position position) {
    count(slots, inputs, -1);
  }

  private void count(Slots slots, UnsafeRow inputs, long times) {
    if (inputs.isNullAt(ordinal) || columns > 1 && inputs.getStruct(ordinal, columns).anyNull()) {
      return;
    }
    Object value = held.of(inputs);
    slots.grown += Held.memory(value);
    count(values(slots), value, times);
  }

  private static void count(Map<Object, Long> values, Object value, long times) {
    values.merge(value, times, (before, more) -> before + more == 0 ? null : (Long) (before + more));
  }

  @Override
  public void merge(Slots into, Slots from) {
    Map<Object, Long> values = values(into);
    values(from).forEach((value, times) -> count(values, value, times));
  }

  /** In order, so that equal bags have equal bytes. */
  @Override
  public void write(Slots slots, ByteWriter out) {
    Map<Object, Long> values = values(slots);
    out.writeUnsigned(values.size());
    for (Object value : values.keySet().stream().sorted(Held::canonical).toList()) {
      held.write(value, out);
      out.writeSigned(values.get(value));
    }
  }

  @Override
  public void read(Slots slots, ByteReader in) {
    Map<Object, Long> values = values(slots);
    for (int left = in.readLength(); left > 0; left--) {
      Object value = held.read(in);
      values.put(value, in.readSigned());
    }
  }

  @Override
  public Object result(Slots slots) {
    Map<Object, Long> values = values(slots);
    if (kind.equals("count_distinct")) {
      return values.size() <= limit ? (Object) (long) values.size()
          : new Unfit(String.format(Locale.ROOT, "has more than %,d value%s", limit, limit == 1 ? "" : "s"));
    }
    boolean greatest = kind.equals("max") || kind.equals("bool_or");
    return held.value(values.keySet().stream().max(greatest ? held.order() : held.order().reversed()).orElse(null));
  }
}
