package headrace.expression;

import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Base64;
import org.apache.spark.sql.catalyst.expressions.BinaryArithmetic;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Concat;
import org.apache.spark.sql.catalyst.expressions.Contains;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.EndsWith;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Hex;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Length;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Lower;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.catalyst.expressions.StringTrim;
import org.apache.spark.sql.catalyst.expressions.Substring;
import org.apache.spark.sql.catalyst.expressions.TryEval;
import org.apache.spark.sql.catalyst.expressions.Upper;
import scala.jdk.javaapi.CollectionConverters;

/** Which expressions may raise on some row: all but the ones that are known not to. */
final class Risk {
  private static final Set<Class<?>> SAFE =
      Set.of(
          Alias.class,
          And.class,
          AttributeReference.class,
          Base64.class,
          BoundReference.class,
          CaseWhen.class,
          Coalesce.class,
          Concat.class,
          Contains.class,
          CreateNamedStruct.class,
          EndsWith.class,
          GetStructField.class,
          Hex.class,
          If.class,
          In.class,
          InSet.class,
          IsNotNull.class,
          IsNull.class,
          Length.class,
          Literal.class,
          Lower.class,
          Not.class,
          Or.class,
          StartsWith.class,
          StringTrim.class,
          Substring.class,
          Upper.class);

  private Risk() {}

  static boolean of(Expression expression) {
    if (expression instanceof Attempt
        || expression instanceof DecodeJson
        || expression instanceof TryEval) {
      return false;
    }
    if (expression instanceof RuntimeReplaceable written) {
      return of(written.replacement());
    }
    return !safe(expression)
        || CollectionConverters.asJava(expression.children()).stream().anyMatch(Risk::of);
  }

  private static boolean safe(Expression expression) {
    if (expression instanceof Cast cast) {
      // To a wider type, or tried; anything else may overflow or not parse.
      return tried(cast.evalMode())
          || Cast.canUpCast(cast.child().dataType(), cast.dataType());
    }
    if (expression instanceof BinaryArithmetic computed && tried(computed.evalMode())) {
      return true;
    }
    return expression instanceof BinaryComparison || SAFE.contains(expression.getClass());
  }

  private static boolean tried(scala.Enumeration.Value mode) {
    return mode.equals(EvalMode.TRY());
  }
}
