package headrace.aggregate;

import java.math.BigInteger;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.LongType;

/** An exact total, as the sum or the mean in the type that the result has. */
final class Total {
  private final boolean mean;
  private final int scale;
  private final DataType result;

  /** {@code scale}: digits after the point of the inputs. */
  Total(String name, boolean mean, int scale, DataType result) {
    this.mean = mean;
    this.scale = scale;
    this.result = result;
    if (!(result instanceof DecimalType || result instanceof DoubleType || result instanceof LongType && !mean)) {
      throw new IllegalArgumentException("the " + (mean ? "mean" : "sum") + " '" + name + "' cannot be a " + result.catalogString());
    }
  }

  Object of(long sum, long count) {
    if (result instanceof LongType) {
      return sum;
    }
    if (result instanceof DoubleType && scale == 0) {
      return mean ? (double) sum / count : (double) sum;
    }
    return of(BigInteger.valueOf(sum), count);
  }

  Object of(BigInteger sum, long count) {
    if (result instanceof LongType) {
      return sum.bitLength() < 64 ? (Object) sum.longValue() : Aggregate.OVERFLOW;
    }
    if (result instanceof DecimalType decimal) {
      Decimal value = mean ? Decimals.mean(sum, scale, count, decimal) : Decimals.of(sum, scale, decimal);
      return value == null ? Aggregate.OVERFLOW : value;
    }
    double value = new java.math.BigDecimal(sum, scale).doubleValue();
    return mean ? value / count : value;
  }
}
