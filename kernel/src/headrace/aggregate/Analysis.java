package headrace.aggregate;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.jdk.javaapi.CollectionConverters;

/** What Spark made of aggregates that a user wrote: where it casts their columns, and their constant arguments. */
public final class Analysis {
  private Analysis() {}

  /**
   * JSON: for each aggregate of the frame {@code {"casts": [type or null, ...], "constants": "[...]"}}.
   *
   * @param aggregated what {@code agg} made of an empty frame
   * @param columns how many of each aggregate's first arguments are columns
   */
  public static String of(Dataset<Row> aggregated, List<Integer> columns) {
    LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset<Row>) aggregated).queryExecution().analyzed();
    if (!(plan instanceof Aggregate aggregate)) {
      throw new IllegalArgumentException("the plan is no aggregation: " + plan.nodeName());
    }
    ArrayNode all = new ObjectMapper().createArrayNode();
    int next = 0;
    for (NamedExpression asked : CollectionConverters.asJava(aggregate.aggregateExpressions())) {
      describe(function((Expression) asked), columns.get(next++), all.addObject());
    }
    return all.toString();
  }

  private static Expression function(Expression expression) {
    Expression at = expression;
    while (!(at instanceof AggregateExpression)) {
      at = CollectionConverters.asJava(at.children()).get(0);
    }
    return ((AggregateExpression) at).aggregateFunction();
  }

  private static void describe(Expression function, int columns, ObjectNode to) {
    List<Expression> arguments = CollectionConverters.asJava(function.children());
    ArrayNode casts = to.putArray("casts");
    ArrayNode constants = new ObjectMapper().createArrayNode();
    for (int i = 0; i < arguments.size(); i++) {
      Expression argument = arguments.get(i);
      if (i >= columns) {
        if (argument.foldable()) {
          Constants.write(argument.eval(null), argument.dataType(), constants);
        }
      } else if (argument instanceof Cast cast && cast.getTagValue(Cast.USER_SPECIFIED_CAST()).isEmpty()) {
        casts.add(argument.dataType().catalogString());
      } else {
        casts.addNull();
      }
    }
    to.put("constants", constants.toString());
  }
}
