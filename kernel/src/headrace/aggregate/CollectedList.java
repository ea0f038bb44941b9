package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;

/** {@code collect_list}: the values that are not null, by (event time, source, partition, offset) of their rows. */
final class CollectedList extends Keeping<List<Entry>> {
  private final DataType type;
  private final Held held;

  CollectedList(String name, int ordinal, DataType type, int limit) {
    super(name, limit);
    this.type = type;
    held = new Held(type, ordinal, false);
  }

  @Override
  public String codec() {
    return "collect_list(" + type.catalogString() + ")";
  }

  @Override
  List<Entry> empty() {
    return new ArrayList<>();
  }

  @Override
  int size(List<Entry> kept) {
    return kept.size();
  }

  @Override
  int take(List<Entry> kept, UnsafeRow inputs, Position position) {
    Object value = held.of(inputs);
    if (value == null) {
      return 0;
    }
    kept.add(Entry.at(position, value));
    return Held.memory(value);
  }

  @Override
  void takeAll(List<Entry> into, List<Entry> from) {
    into.addAll(from);
  }

  @Override
  void writeAll(List<Entry> kept, ByteWriter out) {
    Collections.sort(kept);
    Entry.write(kept, held, out);
  }

  @Override
  void readAll(List<Entry> kept, int size, ByteReader in) {
    Entry.read(size, held, in, kept::add);
  }

  @Override
  Object resultOf(List<Entry> kept) {
    Collections.sort(kept);
    return new GenericArrayData(kept.stream().map(entry -> held.value(entry.value())).toArray());
  }
}
