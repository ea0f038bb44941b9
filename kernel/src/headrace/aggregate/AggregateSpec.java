package headrace.aggregate;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructType;

/** An aggregate as it is declared: its name, function, input column (-1 for all rows) and the type of its result. */
public record AggregateSpec(String name, String function, int input, DataType inputType, DataType result, Map<String, String> options) {
  public static final double DEFAULT_RSD = 0.05;

  /** The function that gives rows in place of a value. */
  public static final String TOP = "top";

  /** The option that says that rows will be taken back; an aggregate that cannot do that is refused. */
  public static final String RETRACT = "retract";

  public Aggregate build() {
    boolean retract = Boolean.parseBoolean(options.get(RETRACT));
    Aggregate built = build(retract);
    if (retract && !built.retracts()) {
      throw new IllegalArgumentException("the aggregate '" + name + "' (" + function + ") cannot take rows back");
    }
    return built;
  }

  /** Whether it can take rows back, if it is told beforehand that it must. */
  public boolean retracts() {
    return build(true).retracts();
  }

  /** What the rejected row says in place of a result. */
  public String reason(Unfit unfit) {
    return function + " " + name + " " + unfit.how() + (unfit == Aggregate.OVERFLOW ? " " + result.catalogString() : "");
  }

  private Aggregate build(boolean retract) {
    String called = function.toLowerCase(Locale.ROOT);
    if (input < 0 && !called.equals("count")) {
      throw new IllegalArgumentException("the aggregate '" + name + "' (" + function + ") needs an input column");
    }
    if (retract && CountedValues.KINDS.contains(called)) {
      return new CountedValues(name, called, input, inputType, columns(), limit());
    }
    return switch (called) {
      case "count" -> new Count(name, input < 0 ? Count.ALL : input);
      case "sum" -> sum(false, retract);
      case "avg" -> sum(true, retract);
      case "min" -> extreme(false);
      case "max" -> extreme(true);
      case "bool_and", "bool_or" -> bool(called.equals("bool_or"));
      case "min_by", "max_by" -> by(called.equals("max_by"));
      case "first", "last" -> new Edge(name, called.equals("last"), Boolean.parseBoolean(options.get("ignore_nulls")), input, inputType);
      case "stddev_samp", "stddev_pop", "var_samp", "var_pop" -> moments(called);
      case "approx_count_distinct" -> new DistinctCount(name, input, inputType,
          options.containsKey("rsd") ? Double.parseDouble(options.get("rsd")) : DEFAULT_RSD);
      case "count_distinct" -> new ExactDistinct(name, input, inputType, columns(), limit());
      case "collect_list" -> new CollectedList(name, input, inputType, limit());
      case "collect_set" -> new CollectedSet(name, input, inputType, limit());
      case TOP -> top();
      default -> sketch(called);
    };
  }

  private Sketch<?> sketch(String called) {
    String constants = options.get("constants");
    if (constants == null) {
      throw new IllegalArgumentException("the aggregate '" + name + "' calls '" + function + "', which is not among this kernel's");
    }
    return new SketchSpec(called, inputType, columns(), constants).build(name, input);
  }

  /** How many columns the input is made of: with more than one, it is a struct of them. */
  private int columns() {
    return Integer.parseInt(options.getOrDefault("columns", "1"));
  }

  private int limit() {
    return options.containsKey("limit") ? Integer.parseInt(options.get("limit")) : Keeping.LIMIT;
  }

  private Aggregate bool(boolean any) {
    if (!(inputType instanceof BooleanType)) {
      throw new IllegalArgumentException("the aggregate '" + name + "' is of true and false, not of " + inputType.catalogString());
    }
    return extreme(any);
  }

  private Aggregate by(boolean greatest) {
    if (!(inputType instanceof StructType both && both.size() == 2)) {
      throw new IllegalArgumentException("the aggregate '" + name + "' needs a value and what it goes by, not "
          + inputType.catalogString());
    }
    return new ExtremeBy(name, greatest, input, both);
  }

  private Aggregate top() {
    int rows = Integer.parseInt(options.getOrDefault("rows", "0"));
    String order = options.getOrDefault("order", "");
    if (rows < 1 || order.isEmpty() || !(inputType instanceof StructType columns)) {
      throw new IllegalArgumentException("the aggregate '" + name + "' needs a struct, how many rows, and an order: "
          + inputType.catalogString() + ", " + options);
    }
    return new TopRows(name, input, columns, rows, Arrays.stream(order.split(",")).map(TopRows.Order::of).toList());
  }

  /** The columns of the rows that it gives, where it does give rows. */
  public StructType shown() {
    return function.equals(TOP) && result instanceof ArrayType rows ? (StructType) rows.elementType() : null;
  }

  private Aggregate moments(String called) {
    if (!(inputType instanceof DoubleType)) {
      throw new IllegalArgumentException("the aggregate '" + name + "' is of doubles, not of " + inputType.catalogString());
    }
    return new Moments(name, called.startsWith("stddev"), called.endsWith("samp"), input);
  }

  private Aggregate sum(boolean mean, boolean retract) {
    if (inputType instanceof FloatType || inputType instanceof DoubleType) {
      if (!(result instanceof DoubleType)) {
        throw new IllegalArgumentException("the aggregate '" + name + "' of a " + inputType.catalogString() + " is a double, not a "
            + result.catalogString());
      }
      return new DoubleSum(name, mean, input, inputType);
    }
    if (inputType instanceof DecimalType decimal) {
      Total total = new Total(name, mean, decimal.scale(), result);
      return decimal.precision() <= Decimal.MAX_LONG_DIGITS() ? new ExactSum(name, mean, retract, input, decimal, Fixed.DECIMAL, total)
          : new WideSum(name, mean, retract, input, decimal, total);
    }
    if (inputType instanceof ByteType || inputType instanceof ShortType || inputType instanceof IntegerType
        || inputType instanceof LongType) {
      return new ExactSum(name, mean, retract, input, inputType, Fixed.of(inputType), new Total(name, mean, 0, result));
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
