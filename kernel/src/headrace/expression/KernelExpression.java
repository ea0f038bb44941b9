package headrace.expression;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.immutable.ArraySeq;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A Catalyst expression written in Java: what a Scala case class would have got from its compiler.
 *
 * <p>Spark's UnaryExpression and BinaryExpression cannot be extended from Java (their children are
 * replaced through methods whose erased signatures Java does not accept as overriding), so the
 * children are kept here. A subclass has one public constructor with its children first and its
 * parameters after them, in the order of {@link #parameters}: Spark copies trees by calling it.
 */
abstract class KernelExpression extends Expression implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Expression[] children;

  KernelExpression(Expression... children) {
    this.children = children;
  }

  /** What makes two expressions with equal children differ. */
  abstract List<?> parameters();

  /** The same expression over other children. */
  abstract Expression over(List<Expression> newChildren);

  final Expression child(int n) {
    return children[n];
  }

  @Override
  public final Seq<Expression> children() {
    return ArraySeq.unsafeWrapArray(children);
  }

  @Override
  public final Expression withNewChildrenInternal(IndexedSeq<Expression> newChildren) {
    return over(CollectionConverters.asJava(newChildren));
  }

  /** Never computed ahead of time: what these expressions are for is a row at hand. */
  @Override
  public final boolean foldable() {
    return false;
  }

  @Override
  public final int productArity() {
    return children.length + parameters().size();
  }

  @Override
  public final Object productElement(int n) {
    return n < children.length ? children[n] : parameters().get(n - children.length);
  }

  @Override
  public final boolean canEqual(Object other) {
    return other != null && getClass() == other.getClass();
  }

  @Override
  public final boolean equals(Object other) {
    return this == other
        || canEqual(other)
            && Arrays.equals(children, ((KernelExpression) other).children)
            && parameters().equals(((KernelExpression) other).parameters());
  }

  /** Spark computes it once, from the product's elements. */
  @Override
  public final int hashCode() {
    return super.hashCode();
  }
}
