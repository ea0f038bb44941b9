package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** {@code count_distinct} of one column, or of several as one struct; a row with a null among them does not count. */
final class ExactDistinct extends Keeping<Set<Object>> {
  private final int ordinal;
  private final DataType type;
  private final int columns;
  private final Held held;

  ExactDistinct(String name, int ordinal, DataType type, int columns, int limit) {
    super(name, limit);
    this.ordinal = ordinal;
    this.type = type;
    this.columns = columns;
    held = new Held(type, ordinal, true);
    if (columns > 1 && !(type instanceof StructType struct && struct.size() == columns)) {
      throw new IllegalArgumentException("the aggregate '" + name + "' reads " + columns + " columns, not " + type.catalogString());
    }
  }

  @Override
  public String codec() {
    return "count_distinct(" + (columns > 1 ? columns + "," : "") + type.catalogString() + ")";
  }

  @Override
  Set<Object> empty() {
    return new HashSet<>();
  }

  @Override
  int size(Set<Object> kept) {
    return kept.size();
  }

  @Override
  int take(Set<Object> kept, UnsafeRow inputs, Position position) {
    if (inputs.isNullAt(ordinal) || columns > 1 && inputs.getStruct(ordinal, columns).anyNull()) {
      return 0;
    }
    Object value = held.of(inputs);
    return kept.add(value) ? Held.memory(value) : 0;
  }

  @Override
  void takeAll(Set<Object> into, Set<Object> from) {
    into.addAll(from);
  }

  /** In order, so that equal sets have equal bytes; numbers as steps from the one before. */
  @Override
  void writeAll(Set<Object> kept, ByteWriter out) {
    long before = 0;
    for (Object value : kept.stream().sorted(Held::canonical).toList()) {
      if (value instanceof Long number) {
        out.writeSigned(number - before);
        before = number;
      } else {
        held.write(value, out);
      }
    }
  }

  @Override
  void readAll(Set<Object> kept, int size, ByteReader in) {
    long before = 0;
    boolean numbers = Fixed.of(type) != null;
    for (int i = 0; i < size; i++) {
      if (numbers) {
        before += in.readSigned();
        kept.add(before);
      } else {
        kept.add(held.read(in));
      }
    }
  }

  @Override
  Object resultOf(Set<Object> kept) {
    return (long) kept.size();
  }
}
