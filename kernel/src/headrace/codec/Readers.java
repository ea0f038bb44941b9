package headrace.codec;

import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/** Which reader reads which type. */
final class Readers {
  private Readers() {}

  /** The reader of a field's type; the field's name is only for the error. */
  static ValueReader of(String field, DataType type) {
    if (type instanceof StringType) {
      return new TextReader();
    } else if (type instanceof LongType) {
      return new IntegralReader("long", Long.MIN_VALUE, Long.MAX_VALUE, value -> value);
    } else if (type instanceof IntegerType) {
      return new IntegralReader("int", Integer.MIN_VALUE, Integer.MAX_VALUE, value -> (int) value);
    } else if (type instanceof ShortType) {
      return new IntegralReader("short", Short.MIN_VALUE, Short.MAX_VALUE, value -> (short) value);
    } else if (type instanceof ByteType) {
      return new IntegralReader("byte", Byte.MIN_VALUE, Byte.MAX_VALUE, value -> (byte) value);
    } else if (type instanceof DoubleType) {
      return new FloatingReader("double", true);
    } else if (type instanceof FloatType) {
      return new FloatingReader("float", false);
    } else if (type instanceof BooleanType) {
      return new BooleanReader();
    } else if (type instanceof BinaryType) {
      return new BinaryReader();
    } else if (type instanceof DecimalType decimal) {
      return new DecimalReader(decimal.precision(), decimal.scale());
    } else if (type instanceof TimestampType) {
      return new TimeReader("timestamp", IsoTime.Zone.OPTIONAL);
    } else if (type instanceof TimestampNTZType) {
      return new TimeReader("timestamp_ntz", IsoTime.Zone.REFUSED);
    } else if (type instanceof DateType) {
      return new DateReader();
    } else if (type instanceof ArrayType array) {
      return new ArrayReader(of(field, array.elementType()), array.containsNull());
    } else if (type instanceof MapType map && map.keyType() instanceof StringType) {
      return new MapReader(of(field, map.valueType()), map.valueContainsNull());
    } else if (type instanceof StructType struct) {
      return new StructReader(struct, -1);
    }
    throw new IllegalArgumentException(
        "field " + field + ": a " + type.catalogString() + " cannot be read from JSON");
  }
}
