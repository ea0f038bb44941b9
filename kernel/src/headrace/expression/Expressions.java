package headrace.expression;

import headrace.codec.EventTime;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** The kernel's expressions as Columns, for Python and for the kernel itself. */
public final class Expressions {
  private Expressions() {}

  /** A struct as the bytes of a row. */
  public static Column pack(Column struct) {
    return column(new Pack(expression(struct)));
  }

  /** The bytes of a row as a struct of this schema. */
  public static Column unpack(Column binary, StructType schema) {
    return column(new Unpack(expression(binary), schema));
  }

  /** As {@link #unpack(Column, StructType)}, with the schema as Spark's JSON. */
  public static Column unpack(Column binary, String schema) {
    return unpack(binary, struct(schema));
  }

  /** A struct of the value and, if there is none because the child raised, the error. */
  public static Column attempt(Column child) {
    return column(new Attempt(expression(child)));
  }

  /**
   * A message as a struct of (value, error), event times held against the epoch's clock.
   *
   * @param schema the value's struct as Spark's JSON
   * @param spec see {@link EventTime}
   */
  public static Column decodeJson(Column message, String schema, String spec) {
    StructType struct = struct(schema);
    Expression now = expression(functions.current_timestamp());
    return column(new DecodeJson(expression(message), now, struct, EventTime.of(spec, struct)));
  }

  /** Whether a column that is not analysed yet reads any column of these names. */
  public static boolean reads(Column column, List<String> names) {
    return reads(expression(column), Set.copyOf(names));
  }

  private static boolean reads(Expression expression, Set<String> names) {
    if (expression instanceof UnresolvedAttribute read && names.contains(CollectionConverters.asJava(read.nameParts()).get(0))) {
      return true;
    }
    return CollectionConverters.asJava(expression.children()).stream().anyMatch(child -> reads(child, names));
  }

  static StructType struct(String json) {
    return (StructType) DataType.fromJson(json);
  }

  static Column column(Expression expression) {
    return ExpressionUtils.column(expression);
  }

  static Expression expression(Column column) {
    return ExpressionUtils.expression(column);
  }
}
