package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.math.BigInteger;
import java.util.Comparator;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * How an aggregate keeps values of a column, whatever their type: as a number where they fit one, else as bytes.
 *
 * <p>A kept value is a {@link Long} or, since these compare and hash by content, a {@link UTF8String} over its bytes. Values that are the
 * same for SQL are equal when {@code same} is asked for: then -0.0 is 0.0, also deep inside.
 */
final class Held {
  private static final long MINUS_ZERO = -1;
  private static final int ENTRY_BYTES = 64;
  private final DataType type;
  private final int ordinal;
  private final boolean same;
  private final Fixed kind;
  private final UnsafeProjection single;

  Held(DataType type, int ordinal, boolean same) {
    this.type = type;
    this.ordinal = ordinal;
    this.same = same;
    kind = Fixed.of(type);
    single = kind != null || isPlain(type) ? null : UnsafeProjection.create(source(type, ordinal, same));
  }

  private static boolean isPlain(DataType type) {
    return type instanceof StringType || type instanceof BinaryType || type instanceof DecimalType;
  }

  private static Expression source(DataType type, int ordinal, boolean same) {
    BoundReference column = new BoundReference(ordinal, type, true);
    return same ? NormalizeFloatingNumbers$.MODULE$.normalize(column) : column;
  }

  /** The column's value in the row, to be kept; null when it is null. */
  Object of(UnsafeRow row) {
    if (row.isNullAt(ordinal)) {
      return null;
    }
    if (kind != null) {
      long word = kind.read(row, ordinal);
      return same && word == MINUS_ZERO && isFloating() ? 0L : word;
    }
    if (type instanceof StringType) {
      return row.getUTF8String(ordinal).copy();
    }
    return UTF8String.fromBytes(bytes(row));
  }

  private byte[] bytes(UnsafeRow row) {
    if (type instanceof DecimalType decimal) {
      return row.getDecimal(ordinal, decimal.precision(), decimal.scale()).toJavaBigDecimal().unscaledValue().toByteArray();
    }
    return type instanceof BinaryType ? row.getBinary(ordinal) : single.apply(row).copy().getBytes();
  }

  private boolean isFloating() {
    return kind == Fixed.FLOAT || kind == Fixed.DOUBLE;
  }

  /** About how much memory a kept value takes, with its place in a collection. */
  static int memory(Object held) {
    return ENTRY_BYTES + (held instanceof UTF8String bytes ? bytes.numBytes() : Long.BYTES);
  }

  /** The catalyst value again. */
  Object value(Object held) {
    if (held == null) {
      return null;
    }
    if (kind != null) {
      return kind.value((Long) held, type);
    }
    if (type instanceof StringType) {
      return held;
    }
    byte[] bytes = ((UTF8String) held).getBytes();
    if (type instanceof DecimalType decimal) {
      return Decimals.of(new BigInteger(bytes), decimal.scale(), decimal);
    }
    if (type instanceof BinaryType) {
      return bytes;
    }
    UnsafeRow row = new UnsafeRow(1);
    row.pointTo(bytes, bytes.length);
    return row.get(0, type);
  }

  void write(Object held, ByteWriter out) {
    if (kind == null) {
      out.writeBytes(((UTF8String) held).getBytes());
    } else if (isFloating()) {
      out.writeFixed((Long) held);
    } else {
      out.writeSigned((Long) held);
    }
  }

  Object read(ByteReader in) {
    if (kind == null) {
      return UTF8String.fromBytes(in.readBytes());
    }
    return isFloating() ? in.readFixed() : in.readSigned();
  }

  /** Any order of kept values that is the same on every run. */
  static int canonical(Object left, Object right) {
    return left instanceof Long number ? number.compareTo((Long) right) : ((UTF8String) left).binaryCompare((UTF8String) right);
  }

  /** The type's own order. */
  Comparator<Object> order() {
    boolean bytes = type instanceof BinaryType || type instanceof StringType string && string.supportsBinaryOrdering();
    if (kind != null || bytes) {
      return Held::canonical;
    }
    scala.math.Ordering<Object> ordering = TypeUtils.getInterpretedOrdering(type);
    return (left, right) -> ordering.compare(value(left), value(right));
  }
}
