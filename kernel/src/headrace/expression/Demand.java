package headrace.expression;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The value, unless there is an error already: then that error, raised.
 *
 * <p>Spark computes Python functions, and with them their arguments, in an operator of their own
 * below the one that a function's result is used in, out of reach of any {@link Attempt} around it.
 * So each argument that may raise becomes an attempt, whose error comes back here.
 */
public final class Demand extends KernelExpression {
  private static final long serialVersionUID = 1L;

  public Demand(Expression error, Expression value) {
    super(error, value);
  }

  /** An error that has been put into words already. */
  static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused(String reason) {
      super(reason, null, false, false);
    }
  }

  @Override
  public DataType dataType() {
    return child(1).dataType();
  }

  @Override
  public boolean nullable() {
    return child(1).nullable();
  }

  @Override
  public boolean throwable() {
    return true;
  }

  @Override
  public Object eval(InternalRow input) {
    Failure.raise((UTF8String) child(0).eval(input));
    return child(1).eval(input);
  }

  @Override
  public ExprCode doGenCode(CodegenContext ctx, ExprCode ev) {
    ExprCode error = child(0).genCode(ctx);
    ExprCode value = child(1).genCode(ctx);
    ev.code_$eq(
        new GeneratedCode()
            .block(error.code())
            .line("headrace.expression.Failure.raise(")
            .line("  ", error.isNull().code(), " ? null : ", error.value().code(), ");")
            .block(value.code())
            .done());
    ev.isNull_$eq(value.isNull());
    ev.value_$eq(value.value());
    return ev;
  }

  @Override
  List<?> parameters() {
    return List.of();
  }

  @Override
  Expression over(List<Expression> newChildren) {
    return new Demand(newChildren.get(0), newChildren.get(1));
  }
}
