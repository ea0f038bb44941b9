package headrace.expression;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Generator;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An analysed plan of projections and filters as one expression for each column and one condition,
 * all of them over the columns of the plan's source.
 */
final class Composition {
  private static final int LONGEST = 200;

  private final Map<ExprId, Expression> columns = new HashMap<>();
  private final Set<ExprId> spent = new HashSet<>();
  private Expression condition;

  private Composition() {}

  /** What the plan computes from its source; the source is the plan of the empty frame. */
  static Composition of(LogicalPlan plan, LogicalPlan source) {
    if (plan.equals(source)) {
      Composition itself = new Composition();
      for (Attribute column : attributes(source)) {
        itself.columns.put(column.exprId(), column);
      }
      return itself;
    }
    if (plan instanceof SubqueryAlias alias) {
      return of(alias.child(), source);
    }
    if (plan instanceof Project project) {
      return of(project.child(), source).project(project);
    }
    if (plan instanceof Filter filter) {
      return of(filter.child(), source).filter(filter);
    }
    if (CollectionConverters.asJava(plan.children()).isEmpty()) {
      throw new IllegalArgumentException(
          "the result does not come from the DataFrame that was given, but from "
              + excerpt(plan.simpleString(LONGEST)));
    }
    throw new IllegalArgumentException(
        "only columns and filters of one row at a time are possible here, not "
            + plan.nodeName() + ": " + excerpt(plan.simpleString(LONGEST)));
  }

  /** The expressions of these attributes, each of them used this once. */
  List<Expression> expressions(List<Attribute> attributes) {
    List<Expression> expressions = new ArrayList<>();
    for (Attribute attribute : attributes) {
      expressions.add(substituted(attribute));
    }
    return expressions;
  }

  /** The condition of all filters, null for none; the lowest filter comes first. */
  Expression condition() {
    return condition;
  }

  static List<Attribute> attributes(LogicalPlan plan) {
    return CollectionConverters.asJava(plan.output());
  }

  private Composition project(Project project) {
    Composition next = new Composition();
    for (NamedExpression column : CollectionConverters.asJava(project.projectList())) {
      Expression computed =
          column instanceof Alias alias ? alias.child() : (Expression) column;
      next.columns.put(column.exprId(), substituted(computed));
    }
    next.condition = condition;
    return next;
  }

  private Composition filter(Filter filter) {
    Expression kept = substituted(filter.condition());
    condition = condition == null ? kept : new And(condition, kept);
    return this;
  }

  private Expression substituted(Expression expression) {
    if (expression instanceof AttributeReference column) {
      return definition(column);
    }
    if (expression instanceof PlanExpression<?>) {
      throw new IllegalArgumentException("a subquery is not possible here: " + named(expression));
    }
    if (expression instanceof AggregateExpression) {
      throw new IllegalArgumentException("an aggregate is not possible here: " + named(expression));
    }
    if (expression instanceof WindowExpression) {
      throw new IllegalArgumentException(
          "a window function is not possible here: " + named(expression));
    }
    if (expression instanceof Generator) {
      throw new IllegalArgumentException("a generator is not possible here: " + named(expression));
    }
    return expression.mapChildren(this::substituted);
  }

  private Expression definition(AttributeReference column) {
    Expression definition = columns.get(column.exprId());
    if (definition == null) {
      throw new IllegalArgumentException(
          "column " + column.name() + " does not come from the DataFrame that was given");
    }
    // Written twice, it would be computed twice, and would not be equal to itself.
    if (!definition.deterministic() && !spent.add(column.exprId())) {
      throw new IllegalArgumentException(
          "column " + column.name() + " is not deterministic and is used more than once: "
              + named(definition));
    }
    return definition;
  }

  private static String named(Expression expression) {
    return excerpt(expression.sql());
  }

  private static String excerpt(String text) {
    String line = text.lines().findFirst().orElse("");
    return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "…";
  }
}
