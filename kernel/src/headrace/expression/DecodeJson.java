package headrace.expression;

import headrace.codec.EventTime;
import headrace.codec.JsonDecoder;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A JSON message as a struct of (value, error): its row, or the reason why it has none.
 *
 * <p>The second child is the clock that event times are held against: the epoch's own time, so that
 * an epoch which runs again judges its rows alike.
 */
public final class DecodeJson extends KernelExpression {
  private static final long serialVersionUID = 1L;

  private final StructType schema;
  private final EventTime time;
  private transient JsonDecoder decoder;

  public DecodeJson(Expression message, Expression now, StructType schema, EventTime time) {
    super(message, now);
    this.schema = schema;
    this.time = time;
  }

  /** The decoder's answer as the fields of this expression's struct. */
  public static InternalRow decoded(JsonDecoder decoder, byte[] message, long now) {
    InternalRow row = decoder.decode(message, now);
    UTF8String error = row == null ? UTF8String.fromString(decoder.reason()) : null;
    return new GenericInternalRow(new Object[] {row, error});
  }

  @Override
  public DataType dataType() {
    return new StructType().add("value", schema, true).add("error", DataTypes.StringType, true);
  }

  @Override
  public boolean nullable() {
    return false;
  }

  /** Decoding twice costs more than a filter gains by being pushed below it. */
  @Override
  public boolean expensive() {
    return true;
  }

  @Override
  public TypeCheckResult checkInputDataTypes() {
    boolean fit =
        child(0).dataType() instanceof BinaryType && child(1).dataType() instanceof TimestampType;
    return fit
        ? TypeCheckResult.TypeCheckSuccess$.MODULE$
        : new TypeCheckResult.TypeCheckFailure(
            "decodejson takes binary and a timestamp, not "
                + child(0).dataType().sql() + " and " + child(1).dataType().sql());
  }

  @Override
  public Object eval(InternalRow input) {
    if (decoder == null) {
      decoder = new JsonDecoder(schema, time);
    }
    Object now = child(1).eval(input);
    return decoded(
        decoder, (byte[]) child(0).eval(input), now == null ? Long.MAX_VALUE : (long) now);
  }

  @Override
  public ExprCode doGenCode(CodegenContext ctx, ExprCode ev) {
    ExprCode message = child(0).genCode(ctx);
    ExprCode now = now(ctx);
    String schemaTerm = ctx.addReferenceObj("schema", schema, StructType.class.getName());
    String timeTerm = ctx.addReferenceObj("eventTime", time, EventTime.class.getName());
    String type = JsonDecoder.class.getName();
    String decoderTerm =
        ctx.addMutableState(
            type,
            "decoder",
            name -> name + " = new " + type + "(" + schemaTerm + ", " + timeTerm + ");",
            true,
            true);
    ev.code_$eq(
        new GeneratedCode()
            .block(message.code())
            .block(now.code())
            .line(InternalRow.class.getName(), " ", ev.value().code(), " =")
            .line("  headrace.expression.DecodeJson.decoded(", decoderTerm, ",")
            .line("    ", message.isNull().code(), " ? null : ", message.value().code(), ",")
            .line("    ", now.isNull().code(), " ? Long.MAX_VALUE : ", now.value().code(), ");")
            .done());
    ev.isNull_$eq(JavaCode.isNullExpression("false"));
    return ev;
  }

  /**
   * The clock. By the time that an epoch is compiled it is a number, another one in each epoch: written into the code it would have
   * every epoch compile anew, and run what no JIT has seen yet.
   */
  private ExprCode now(CodegenContext ctx) {
    if (!(child(1) instanceof Literal literal) || literal.value() == null) {
      return child(1).genCode(ctx);
    }
    String term = ctx.addReferenceObj("now", literal.value(), Long.class.getName());
    return ExprCode.forNonNullValue(JavaCode.expression(term, DataTypes.LongType));
  }

  @Override
  List<?> parameters() {
    return List.of(schema, time);
  }

  @Override
  Expression over(List<Expression> newChildren) {
    return new DecodeJson(newChildren.get(0), newChildren.get(1), schema, time);
  }
}
