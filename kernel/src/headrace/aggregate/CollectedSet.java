package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;

/** {@code collect_set}: the different values that are not null, each at the place of the first row that has it. */
final class CollectedSet extends Keeping<Map<Object, Entry>> {
  private final DataType type;
  private final Held held;

  CollectedSet(String name, int ordinal, DataType type, int limit) {
    super(name, limit);
    this.type = type;
    held = new Held(type, ordinal, true);
  }

  @Override
  public String codec() {
    return "collect_set(" + type.catalogString() + ")";
  }

  @Override
  Map<Object, Entry> empty() {
    return new HashMap<>();
  }

  @Override
  int size(Map<Object, Entry> kept) {
    return kept.size();
  }

  @Override
  int take(Map<Object, Entry> kept, UnsafeRow inputs, Position position) {
    Object value = held.of(inputs);
    if (value == null) {
      return 0;
    }
    int before = kept.size();
    put(kept, Entry.at(position, value));
    return kept.size() == before ? 0 : Held.memory(value);
  }

  private static void put(Map<Object, Entry> kept, Entry entry) {
    kept.merge(entry.value(), entry, (left, right) -> left.compareTo(right) <= 0 ? left : right);
  }

  @Override
  void takeAll(Map<Object, Entry> into, Map<Object, Entry> from) {
    from.values().forEach(entry -> put(into, entry));
  }

  private static List<Entry> inOrder(Map<Object, Entry> kept) {
    return kept.values().stream().sorted().toList();
  }

  @Override
  void writeAll(Map<Object, Entry> kept, ByteWriter out) {
    Entry.write(inOrder(kept), held, out);
  }

  @Override
  void readAll(Map<Object, Entry> kept, int size, ByteReader in) {
    Entry.read(size, held, in, entry -> kept.put(entry.value(), entry));
  }

  @Override
  Object resultOf(Map<Object, Entry> kept) {
    return new GenericArrayData(inOrder(kept).stream().map(entry -> held.value(entry.value())).toArray());
  }
}
