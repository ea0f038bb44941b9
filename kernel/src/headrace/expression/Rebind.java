package headrace.expression;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions$;
import org.apache.spark.sql.catalyst.optimizer.RewriteWithExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.StructType;

/**
 * Columns that a user wrote against a stream's columns, for a plan where a stream is one struct.
 *
 * <p>Spark itself analyses them over an empty frame of the stream's schema; its errors pass through
 * unchanged. What comes out can be placed over any struct of that schema.
 */
public final class Rebind {
  private Rebind() {}

  /** A frame without rows, to write columns against. */
  public static Dataset<Row> emptyFrame(SparkSession session, String schema) {
    return session.createDataFrame(new ArrayList<Row>(), Expressions.struct(schema));
  }

  /** These columns, as {@code select} takes them. */
  public static Projection analyse(SparkSession session, String schema, List<Column> columns) {
    Dataset<Row> in = emptyFrame(session, schema);
    return composed(in, in.select(columns.toArray(new Column[0])));
  }

  /** All columns as they are, and a condition. */
  public static Projection filter(SparkSession session, String schema, Column condition) {
    Dataset<Row> in = emptyFrame(session, schema);
    return composed(in, in.filter(condition));
  }

  /**
   * What a function made of an empty frame.
   *
   * @param schema the schema of the rows that the result is going to be placed over
   * @param in an empty frame of that schema, which the function was given
   * @param out what the function returned
   */
  public static Projection transform(
      SparkSession session, String schema, Dataset<Row> in, Dataset<Row> out) {
    String[] expected = Expressions.struct(schema).fieldNames();
    if (!Arrays.equals(expected, in.schema().fieldNames())) {
      throw new IllegalArgumentException(
          "the frame has the columns " + String.join(", ", in.schema().fieldNames())
              + ", not " + String.join(", ", expected));
    }
    return composed(in, out);
  }

  /** As {@link #analyse}, of columns that a step evaluates by itself: no optimiser sees them any more. */
  public static Projection evaluable(SparkSession session, String schema, List<Column> columns) {
    Dataset<Row> in = emptyFrame(session, schema);
    Dataset<Row> out = in.select(columns.toArray(new Column[0]));
    LogicalPlan replaced = ReplaceExpressions$.MODULE$.apply(analysed(out));
    return composed(in, out, RewriteWithExpression$.MODULE$.apply(replaced));
  }

  private static Projection composed(Dataset<Row> in, Dataset<Row> out) {
    return composed(in, out, analysed(out));
  }

  private static Projection composed(Dataset<Row> in, Dataset<Row> out, LogicalPlan result) {
    LogicalPlan source = analysed(in);
    Composition composition = Composition.of(result, source);
    Map<ExprId, Integer> fields = new HashMap<>();
    for (Attribute column : Composition.attributes(source)) {
      fields.put(column.exprId(), fields.size());
    }
    checkNames(out.schema());
    return new Projection(
        fields,
        out.schema(),
        composition.expressions(Composition.attributes(result)),
        composition.condition());
  }

  private static LogicalPlan analysed(Dataset<Row> frame) {
    return ((org.apache.spark.sql.classic.Dataset<Row>) frame).queryExecution().analyzed();
  }

  private static void checkNames(StructType schema) {
    Set<String> names = new HashSet<>();
    for (String name : schema.fieldNames()) {
      if (!names.add(name.toLowerCase(Locale.ROOT))) {
        throw new IllegalArgumentException("two columns are named " + name);
      }
    }
  }
}
