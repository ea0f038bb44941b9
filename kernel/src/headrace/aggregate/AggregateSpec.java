package headrace.aggregate;

import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;

/** An aggregate as it is declared: its name, function, input column (-1 for all rows) and the type of its result. */
public record AggregateSpec(String name, String function, int input, DataType inputType, DataType result, Map<String, String> options) {
  public static final double DEFAULT_RSD = 0.05;

  public Aggregate build() {
    String called = function.toLowerCase(Locale.ROOT);
    if (input < 0 && !called.equals("count")) {
      throw new IllegalArgumentException("the aggregate '" + name + "' (" + function + ") needs an input column");
    }
    return switch (called) {
      case "count" -> new Count(name, input < 0 ? Count.ALL : input);
      case "sum" -> sum(false);
      case "avg" -> sum(true);
      case "min" -> extreme(false);
      case "max" -> extreme(true);
      case "first" -> new Edge(name, false, input, inputType);
      case "last" -> new Edge(name, true, input, inputType);
      case "approx_count_distinct" -> new DistinctCount(name, input, inputType,
          options.containsKey("rsd") ? Double.parseDouble(options.get("rsd")) : DEFAULT_RSD);
      default -> throw new IllegalArgumentException("the aggregate '" + name + "' calls '" + function
          + "': count, sum, avg, min, max, first, last and approx_count_distinct are there");
    };
  }

  private Aggregate sum(boolean mean) {
    if (inputType instanceof FloatType || inputType instanceof DoubleType) {
      if (!(result instanceof DoubleType)) {
        throw new IllegalArgumentException("the aggregate '" + name + "' of a " + inputType.catalogString() + " is a double, not a "
            + result.catalogString());
      }
      return new DoubleSum(name, mean, input, inputType);
    }
    if (inputType instanceof DecimalType decimal) {
      Total total = new Total(name, mean, decimal.scale(), result);
      return decimal.precision() <= Decimal.MAX_LONG_DIGITS() ? new ExactSum(name, mean, input, decimal, Fixed.DECIMAL, total)
          : new WideSum(name, mean, input, decimal, total);
    }
    if (inputType instanceof ByteType || inputType instanceof ShortType || inputType instanceof IntegerType
        || inputType instanceof LongType) {
      return new ExactSum(name, mean, input, inputType, Fixed.of(inputType), new Total(name, mean, 0, result));
    }
    throw new IllegalArgumentException("the aggregate '" + name + "' cannot add up values of " + inputType.catalogString());
  }

  private Aggregate extreme(boolean greatest) {
    Fixed kind = Fixed.of(inputType);
    if (kind != null) {
      return new Extreme(name, greatest, input, inputType, kind);
    }
    if (!LongExtreme.orders(inputType)) {
      throw new IllegalArgumentException("the aggregate '" + name + "' cannot order values of " + inputType.catalogString());
    }
    return new LongExtreme(name, greatest, input, inputType);
  }
}
