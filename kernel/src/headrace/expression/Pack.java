package headrace.expression;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode;
import org.apache.spark.sql.types.BinaryType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/** A struct as the bytes of an UnsafeRow of its fields; null stays null. */
public final class Pack extends KernelExpression {
  private static final long serialVersionUID = 1L;

  private transient UnsafeProjection projection;

  public Pack(Expression child) {
    super(child);
  }

  /** The fields of a row of this schema, written into one reused UnsafeRow. */
  public static UnsafeProjection projection(StructType schema) {
    return UnsafeProjection.create(schema);
  }

  /** A copy of the row's bytes: the row itself lives in a buffer that the next row overwrites. */
  public static byte[] bytes(UnsafeRow row) {
    byte[] bytes = new byte[row.getSizeInBytes()];
    Platform.copyMemory(
        row.getBaseObject(), row.getBaseOffset(), bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
    return bytes;
  }

  /** The bytes of a row, through the projection only when it is not an UnsafeRow already. */
  public static byte[] bytes(InternalRow row, UnsafeProjection projection) {
    return bytes(row instanceof UnsafeRow unsafe ? unsafe : projection.apply(row));
  }

  @Override
  public DataType dataType() {
    return BinaryType$.MODULE$;
  }

  @Override
  public boolean nullable() {
    return child(0).nullable();
  }

  @Override
  public TypeCheckResult checkInputDataTypes() {
    return child(0).dataType() instanceof StructType
        ? TypeCheckResult.TypeCheckSuccess$.MODULE$
        : new TypeCheckResult.TypeCheckFailure(
            "pack takes a struct, not " + child(0).dataType().sql());
  }

  @Override
  public Object eval(InternalRow input) {
    InternalRow row = (InternalRow) child(0).eval(input);
    if (row == null) {
      return null;
    }
    if (projection == null) {
      projection = projection((StructType) child(0).dataType());
    }
    return bytes(row, projection);
  }

  @Override
  public ExprCode doGenCode(CodegenContext ctx, ExprCode ev) {
    if (child(0) instanceof CreateNamedStruct struct) {
      return packFields(ctx, ev, struct);
    }
    ExprCode row = child(0).genCode(ctx);
    String schema = ctx.addReferenceObj("schema", child(0).dataType(), StructType.class.getName());
    String projection =
        ctx.addMutableState(
            UnsafeProjection.class.getName(),
            "pack",
            name -> name + " = headrace.expression.Pack.projection(" + schema + ");",
            true,
            true);
    ev.code_$eq(
        new GeneratedCode()
            .block(row.code())
            .line("boolean ", ev.isNull().code(), " = ", row.isNull().code(), ";")
            .line("byte[] ", ev.value().code(), " = null;")
            .line("if (!", ev.isNull().code(), ") {")
            .line("  ", ev.value().code(), " = headrace.expression.Pack.bytes(")
            .line("    ", row.value().code(), ", ", projection, ");")
            .line("}")
            .done());
    return ev;
  }

  /** The fields straight into the row, without an object for the struct in between. */
  private static ExprCode packFields(CodegenContext ctx, ExprCode ev, CreateNamedStruct struct) {
    ExprCode row = GenerateUnsafeProjection.createCode(ctx, struct.valExprs(), false);
    ev.code_$eq(
        new GeneratedCode()
            .block(row.code())
            .line("byte[] ", ev.value().code(), " =")
            .line("  headrace.expression.Pack.bytes(", row.value().code(), ");")
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
    return new Pack(newChildren.get(0));
  }
}
