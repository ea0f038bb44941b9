package headrace.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.types.StructType;
import scala.Some;
import scala.collection.immutable.ArraySeq;
import scala.jdk.javaapi.CollectionConverters;

/** Analysed columns over the fields of a stream's rows, and perhaps a condition that keeps rows. */
public final class Projection {
  private final Map<ExprId, Integer> fields;
  private final StructType schema;
  private final List<Expression> outputs;
  private final Expression condition;

  Projection(
      Map<ExprId, Integer> fields,
      StructType schema,
      List<Expression> outputs,
      Expression condition) {
    this.fields = fields;
    this.schema = schema;
    this.outputs = outputs;
    this.condition = condition;
  }

  /** The result's struct as Spark's JSON. */
  public String schemaJson() {
    return schema.json();
  }

  public StructType struct() {
    return schema;
  }

  public List<String> names() {
    return List.of(schema.fieldNames());
  }

  /** One Column for each field of the result, reading the fields of this struct. */
  public List<Column> over(Column struct) {
    Expression row = Expressions.expression(struct);
    List<Column> columns = new ArrayList<>();
    for (Expression output : outputs) {
      columns.add(Expressions.column(over(output, row)));
    }
    return columns;
  }

  /** Whether there are rows on which this field's expression raises, as far as can be told. */
  public boolean mayFail(int field) {
    return Risk.of(outputs.get(field));
  }

  /** Whether a row stays, reading the fields of this struct (null counts as no); null: all stay. */
  public Column condition(Column struct) {
    return condition == null
        ? null
        : Expressions.column(over(condition, Expressions.expression(struct)));
  }

  /** The first function here that a replay would give another value, null if there is none. */
  public String chance() {
    for (Expression output : outputs) {
      String found = Chance.of(output);
      if (found != null) {
        return found;
      }
    }
    return condition == null ? null : Chance.of(condition);
  }

  /** The fields of the result that are not the field of the same name as it was. */
  public List<String> made() {
    List<String> made = new ArrayList<>();
    for (int field = 0; field < outputs.size(); field++) {
      String name = schema.fieldNames()[field];
      if (!(outputs.get(field) instanceof AttributeReference kept && kept.name().equals(name))) {
        made.add(name);
      }
    }
    return made;
  }

  /** The names of the Python functions here. */
  public List<String> python() {
    TreeSet<String> names = new TreeSet<>();
    outputs.forEach(output -> addPython(output, names));
    if (condition != null) {
      addPython(condition, names);
    }
    return List.copyOf(names);
  }

  private static void addPython(Expression expression, Set<String> names) {
    if (expression instanceof PythonUDF function) {
      names.add(function.name());
    }
    CollectionConverters.asJava(expression.children()).forEach(child -> addPython(child, names));
  }

  public boolean conditionMayFail() {
    return condition != null && Risk.of(condition);
  }

  /** The result's fields for a step to evaluate by itself, over rows of the fields that they read; see {@link Compiled}. */
  public String compiled() {
    return Compiled.write(outputs.stream().map(this::bound).toList());
  }

  private Expression bound(Expression expression) {
    if (expression instanceof AttributeReference field) {
      return new BoundReference(fields.get(field.exprId()), field.dataType(), field.nullable());
    }
    return expression instanceof Alias alias ? bound(alias.child()) : expression.mapChildren(this::bound);
  }

  private Expression over(Expression expression, Expression row) {
    if (expression instanceof AttributeReference field) {
      return new GetStructField(row, fields.get(field.exprId()), new Some<>(field.name()));
    }
    if (expression instanceof Alias alias) {
      return over(alias.child(), row);
    }
    if (expression instanceof PythonUDF function) {
      List<Expression> errors = new ArrayList<>();
      Expression called = called(function, row, errors);
      Expression[] reasons = errors.toArray(new Expression[0]);
      return errors.isEmpty()
          ? called
          : new Demand(new Coalesce(ArraySeq.unsafeWrapArray(reasons)), called);
    }
    return expression.mapChildren(child -> over(child, row));
  }

  /**
   * A Python function over arguments that cannot raise, and what they would have raised.
   *
   * <p>A function right in the arguments of another goes to Python with it, in one go: nothing may
   * come between the two.
   */
  private Expression called(PythonUDF function, Expression row, List<Expression> errors) {
    return function.mapChildren(
        argument -> {
          if (argument instanceof PythonUDF inner) {
            return called(inner, row, errors);
          }
          Expression placed = over(argument, row);
          if (!Risk.of(argument)) {
            return placed;
          }
          Attempt attempt = new Attempt(placed);
          errors.add(new GetStructField(attempt, 1, new Some<>("error")));
          return new GetStructField(attempt, 0, new Some<>("value"));
        });
  }
}
