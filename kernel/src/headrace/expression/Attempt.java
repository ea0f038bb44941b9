package headrace.expression;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.ConditionalExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * The child's value, or why it has none: a struct of (value, error) that never raises.
 *
 * <p>Spark must not move any part of the child out of the try. It asks every expression for the
 * inputs that are evaluated always; the answer of a {@link ConditionalExpression} with none keeps
 * the child out of subexpression elimination, and makes constant folding leave alone what raises.
 */
public final class Attempt extends KernelExpression implements ConditionalExpression {
  private static final long serialVersionUID = 1L;

  public Attempt(Expression child) {
    super(child);
  }

  @Override
  public DataType dataType() {
    return new StructType()
        .add("value", child(0).dataType(), true)
        .add("error", DataTypes.StringType, true);
  }

  @Override
  public boolean nullable() {
    return false;
  }

  @Override
  public boolean throwable() {
    return false;
  }

  /** A filter on the error, pushed below, would evaluate the child a second time. */
  @Override
  public boolean expensive() {
    return true;
  }

  @Override
  public Seq<Expression> alwaysEvaluatedInputs() {
    return none();
  }

  @Override
  public ConditionalExpression withNewAlwaysEvaluatedInputs(Seq<Expression> inputs) {
    return this;
  }

  @Override
  public Seq<Seq<Expression>> branchGroups() {
    return none();
  }

  @SuppressWarnings("unchecked")
  private static <T> Seq<T> none() {
    return (Seq<T>) (Seq<?>) Nil$.MODULE$;
  }

  @Override
  public Object eval(InternalRow input) {
    Object[] fields = new Object[2];
    try {
      fields[0] = child(0).eval(input);
    } catch (Throwable raised) {
      fields[1] = UTF8String.fromString(Failure.reason(raised));
    }
    return new GenericInternalRow(fields);
  }

  @Override
  public ExprCode doGenCode(CodegenContext ctx, ExprCode ev) {
    // A variable of the input is evaluated either before this code (used more than once) or only
    // in it, so that what the child declares may stay inside the try, as in the branches of an If.
    ExprCode attempted = child(0).genCode(ctx);
    String fields = ctx.freshName("fields");
    String raised = ctx.freshName("raised");
    ev.code_$eq(
        new GeneratedCode()
            .line("Object[] ", fields, " = new Object[2];")
            .line("try {")
            .block(attempted.code())
            .line("  if (!", attempted.isNull().code(), ") {")
            .line("    ", fields, "[0] = ", attempted.value().code(), ";")
            .line("  }")
            .line("} catch (Throwable ", raised, ") {")
            .line("  ", fields, "[1] = UTF8String.fromString(")
            .line("    headrace.expression.Failure.reason(", raised, "));")
            .line("}")
            .line(InternalRow.class.getName(), " ", ev.value().code(), " =")
            .line("  new ", GenericInternalRow.class.getName(), "(", fields, ");")
            .done());
    ev.isNull_$eq(JavaCode.isNullExpression("false"));
    return ev;
  }

  @Override
  List<?> parameters() {
    return List.of();
  }

  @Override
  Expression over(List<Expression> newChildren) {
    return new Attempt(newChildren.get(0));
  }
}
