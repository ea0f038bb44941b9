package headrace.expression;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.expressions.AesEncrypt;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What gives another value when it is computed again from the same row.
 *
 * <p>Functions in Python are taken at their word: nobody can look into them, so they count as
 * repeatable, whatever they were registered as.
 */
final class Chance {
  private Chance() {}

  /** The name of the first function that is not repeatable, null if all are. */
  static String of(Expression expression) {
    boolean inherited = false;
    for (Expression child : CollectionConverters.asJava(expression.children())) {
      String found = of(child);
      if (found != null) {
        return found;
      }
      inherited |= !child.deterministic();
    }
    if (expression instanceof PythonUDF) {
      return null;
    }
    if (!inherited && !expression.deterministic() || drawsVector(expression)) {
      return expression.prettyName();
    }
    return expression instanceof RuntimeReplaceable written ? of(written.replacement()) : null;
  }

  /** Encryption draws an initialisation vector unless it is given one, and Spark calls that deterministic. */
  private static boolean drawsVector(Expression expression) {
    return expression instanceof AesEncrypt aes
        && "".equals(constant(aes.iv()))
        && !"ECB".equalsIgnoreCase(constant(aes.mode()));
  }

  private static String constant(Expression expression) {
    Object value = expression.foldable() ? expression.eval(null) : null;
    return value instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(value);
  }
}
