package headrace.expression;

import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import scala.jdk.javaapi.CollectionConverters;

/** Which expressions may raise on some row: all but the ones that are known not to. */
final class Risk {
  private static final Set<Class<?>> SAFE =
      Set.of(
          Alias.class,
          And.class,
          AttributeReference.class,
          BoundReference.class,
          CaseWhen.class,
          Coalesce.class,
          CreateNamedStruct.class,
          GetStructField.class,
          If.class,
          In.class,
          InSet.class,
          IsNotNull.class,
          IsNull.class,
          Literal.class,
          Not.class,
          Or.class);

  private Risk() {}

  static boolean of(Expression expression) {
    if (expression instanceof Attempt || expression instanceof DecodeJson) {
      return false;
    }
    return !safe(expression)
        || CollectionConverters.asJava(expression.children()).stream().anyMatch(Risk::of);
  }

  private static boolean safe(Expression expression) {
    if (expression instanceof Cast cast) {
      // To a wider type; anything else may overflow or not parse.
      return Cast.canUpCast(cast.child().dataType(), cast.dataType());
    }
    return expression instanceof BinaryComparison || SAFE.contains(expression.getClass());
  }
}
