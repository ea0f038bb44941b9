package headrace.aggregate;

import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/** The column types that fit one number. Values become longs that compare as the values do, NaN greatest, and become values again. */
enum Fixed {
  BOOLEAN, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, DECIMAL;

  /** The kind of the type, or null when its values do not fit one number. */
  static Fixed of(DataType type) {
    if (type instanceof BooleanType) {
      return BOOLEAN;
    } else if (type instanceof ByteType) {
      return BYTE;
    } else if (type instanceof ShortType) {
      return SHORT;
    } else if (type instanceof IntegerType || type instanceof DateType || type instanceof YearMonthIntervalType) {
      return INT;
    } else if (type instanceof LongType || type instanceof TimestampType || type instanceof TimestampNTZType
        || type instanceof DayTimeIntervalType) {
      return LONG;
    } else if (type instanceof FloatType) {
      return FLOAT;
    } else if (type instanceof DoubleType) {
      return DOUBLE;
    } else if (type instanceof DecimalType decimal && decimal.precision() <= Decimal.MAX_LONG_DIGITS()) {
      return DECIMAL;
    }
    return null;
  }

  long read(UnsafeRow row, int ordinal) {
    return switch (this) {
      case BOOLEAN -> row.getBoolean(ordinal) ? 1 : 0;
      case BYTE -> row.getByte(ordinal);
      case SHORT -> row.getShort(ordinal);
      case INT -> row.getInt(ordinal);
      case LONG, DECIMAL -> row.getLong(ordinal);
      case FLOAT -> ordered(row.getFloat(ordinal));
      case DOUBLE -> ordered(row.getDouble(ordinal));
    };
  }

  Object value(long word, DataType type) {
    return switch (this) {
      case BOOLEAN -> word != 0;
      case BYTE -> (byte) word;
      case SHORT -> (short) word;
      case INT -> (int) word;
      case LONG -> word;
      case DECIMAL -> Decimal.createUnsafe(word, ((DecimalType) type).precision(), ((DecimalType) type).scale());
      case FLOAT -> (float) unordered(word);
      case DOUBLE -> unordered(word);
    };
  }

  /** The sign bit of a double says "read me backwards"; flipping the rest of a negative one makes the bits compare as numbers do. */
  private static long ordered(double value) {
    long bits = Double.doubleToLongBits(value);
    return bits ^ ((bits >> 63) & Long.MAX_VALUE);
  }

  private static double unordered(long word) {
    return Double.longBitsToDouble(word ^ ((word >> 63) & Long.MAX_VALUE));
  }
}
