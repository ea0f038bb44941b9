package headrace.expression;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** What {@link Pack} packed, as a struct again: a row that points at the bytes; null stays null. */
public final class Unpack extends KernelExpression {
  private static final long serialVersionUID = 1L;

  private final StructType schema;

  public Unpack(Expression child, StructType schema) {
    super(child);
    this.schema = schema;
  }

  /** A row over the bytes. They are not copied: whoever writes to them changes the row. */
  public static UnsafeRow row(byte[] bytes, int fields) {
    UnsafeRow row = new UnsafeRow(fields);
    row.pointTo(bytes, bytes.length);
    return row;
  }

  @Override
  public DataType dataType() {
    return schema;
  }

  @Override
  public boolean nullable() {
    return child(0).nullable();
  }

  @Override
  public TypeCheckResult checkInputDataTypes() {
    return child(0).dataType() instanceof BinaryType
        ? TypeCheckResult.TypeCheckSuccess$.MODULE$
        : new TypeCheckResult.TypeCheckFailure(
            "unpack takes binary, not " + child(0).dataType().sql());
  }

  @Override
  public Object eval(InternalRow input) {
    byte[] bytes = (byte[]) child(0).eval(input);
    return bytes == null ? null : row(bytes, schema.length());
  }

  @Override
  public ExprCode doGenCode(CodegenContext ctx, ExprCode ev) {
    ExprCode bytes = child(0).genCode(ctx);
    String value = ev.value().code();
    ev.code_$eq(
        new GeneratedCode()
            .block(bytes.code())
            .line("boolean ", ev.isNull().code(), " = ", bytes.isNull().code(), ";")
            .line(InternalRow.class.getName(), " ", value, " = null;")
            .line("if (!", ev.isNull().code(), ") {")
            .line("  ", value, " = headrace.expression.Unpack.row(")
            .line("    ", bytes.value().code(), ", ", String.valueOf(schema.length()), ");")
            .line("}")
            .done());
    return ev;
  }

  @Override
  List<?> parameters() {
    return List.of(schema);
  }

  @Override
  Expression over(List<Expression> newChildren) {
    return new Unpack(newChildren.get(0), schema);
  }
}
