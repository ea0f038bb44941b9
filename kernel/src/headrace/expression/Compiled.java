package headrace.expression;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.util.Base64;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import scala.collection.immutable.ArraySeq;

/** Columns that a step evaluates by itself, row by row: they travel with the layer as text. */
public final class Compiled {
  private Compiled() {}

  /** Bound expressions as text; what could not be evaluated is refused here, and not while running. */
  static String write(List<Expression> bound) {
    projection(bound.toArray(new Expression[0]));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(bound.toArray(new Expression[0]));
    } catch (IOException broken) {
      throw new IllegalStateException("expressions could not be written: " + broken, broken);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  /** A projection of its own for each caller: it has a buffer, and some expressions have one, too. */
  public static UnsafeProjection projection(String text) {
    return projection(read(text));
  }

  private static UnsafeProjection projection(Expression[] bound) {
    return UnsafeProjection.create(ArraySeq.unsafeWrapArray(bound));
  }

  private static Expression[] read(String text) {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    byte[] bytes = Base64.getDecoder().decode(text);
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      @Override
      protected Class<?> resolveClass(ObjectStreamClass described) throws IOException, ClassNotFoundException {
        try {
          return Class.forName(described.getName(), false, loader);
        } catch (ClassNotFoundException primitive) {
          return super.resolveClass(described);
        }
      }
    }) {
      return (Expression[]) in.readObject();
    } catch (IOException | ClassNotFoundException broken) {
      throw new IllegalStateException("expressions could not be read: " + broken, broken);
    }
  }
}
