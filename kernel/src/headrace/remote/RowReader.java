package headrace.remote;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Rows of a query as packed rows of Spark's; the key is their first column and not read. */
final class RowReader {
  private static final long MICROS = 1_000_000;

  private final StructField[] fields;
  private final UnsafeProjection projection;

  /** What a value is that its column cannot hold. */
  private static final class Unfit extends Exception {
    private static final long serialVersionUID = 1;

    Unfit(String what) {
      super(what, null, false, false);
    }
  }

  RowReader(RemoteTable table) {
    fields = table.row().fields();
    projection = UnsafeProjection.create(table.row());
  }

  Answer read(ResultSet rows) throws SQLException {
    Object[] values = new Object[fields.length];
    for (int i = 0; i < fields.length; i++) {
      try {
        values[i] = value(rows, i + 2, fields[i].dataType());
      } catch (Unfit unfit) {
        return new Answer(null, "the row that was looked up has in '" + fields[i].name() + "' " + unfit.getMessage());
      }
      if (values[i] == null && !fields[i].nullable()) {
        return new Answer(null, "the row that was looked up has no '" + fields[i].name() + "'");
      }
    }
    return new Answer(projection.apply(new GenericInternalRow(values)).copy().getBytes(), null);
  }

  private static Object value(ResultSet rows, int column, DataType type) throws SQLException, Unfit {
    if (type instanceof StringType) {
      return UTF8String.fromString(rows.getString(column));
    }
    if (type instanceof BinaryType) {
      return rows.getBytes(column);
    }
    Object value = null;
    if (type instanceof LongType) {
      value = rows.getLong(column);
    } else if (type instanceof DoubleType) {
      value = rows.getDouble(column);
    } else if (type instanceof BooleanType) {
      value = rows.getBoolean(column);
    } else if (type instanceof DecimalType decimal) {
      String text = rows.getString(column);
      value = text == null ? null : decimal(text, decimal);
    } else if (type instanceof TimestampType) {
      OffsetDateTime time = rows.getObject(column, OffsetDateTime.class);
      value = time == null ? null : micros(time.toInstant());
    } else if (type instanceof DateType) {
      LocalDate date = rows.getObject(column, LocalDate.class);
      value = date == null ? null : days(date);
    } else {
      throw new IllegalStateException("no column of type " + type.simpleString() + " is looked up");
    }
    return rows.wasNull() ? null : value;
  }

  private static Decimal decimal(String text, DecimalType type) throws Unfit {
    BigDecimal number;
    try {
      number = new BigDecimal(text);
    } catch (NumberFormatException special) {
      throw new Unfit("no number: " + text);
    }
    number = number.stripTrailingZeros();
    if (number.scale() > type.scale() || number.precision() - number.scale() > type.precision() - type.scale()) {
      throw new Unfit("a number that is no " + type.simpleString());
    }
    return Decimal.apply(number.setScale(type.scale()), type.precision(), type.scale());
  }

  private static Long micros(Instant time) throws Unfit {
    try {
      return Math.addExact(Math.multiplyExact(time.getEpochSecond(), MICROS), time.getNano() / 1_000);
    } catch (ArithmeticException endless) {
      throw new Unfit("a time without end");
    }
  }

  private static Integer days(LocalDate date) throws Unfit {
    try {
      return Math.toIntExact(date.toEpochDay());
    } catch (ArithmeticException endless) {
      throw new Unfit("a date without end");
    }
  }
}
