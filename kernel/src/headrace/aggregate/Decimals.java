package headrace.aggregate;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;

/** Exact totals made decimals of a declared precision, rounded as Spark rounds. */
final class Decimals {
  private Decimals() {}

  /** The decimal of the type, or null when it has more digits than the type. */
  static Decimal of(BigInteger unscaled, int scale, DecimalType type) {
    return of(new BigDecimal(unscaled, scale), type);
  }

  static Decimal of(BigDecimal value, DecimalType type) {
    Decimal decimal = Decimal.apply(value);
    return decimal.changePrecision(type.precision(), type.scale()) ? decimal : null;
  }

  /** Spark divides to 38 digits after the point and rounds that once more to the type; so do we, to the last digit. */
  static Decimal mean(BigInteger unscaled, int scale, long count, DecimalType type) {
    return of(new BigDecimal(unscaled, scale).divide(BigDecimal.valueOf(count), DecimalType.MAX_SCALE(), RoundingMode.HALF_UP), type);
  }
}
