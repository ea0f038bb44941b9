package headrace.step;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.List$;
import scala.jdk.javaapi.CollectionConverters;

/** Rows made of the columns of another one, in an order of their own. */
final class Columns {
  private Columns() {}

  /** Makes rows of this type; {@code places} is where each of their columns is. Any of them may be null. */
  static UnsafeProjection projection(StructType made, int[] places) {
    List<Expression> columns = new ArrayList<>();
    for (int i = 0; i < places.length; i++) {
      columns.add(new BoundReference(places[i], made.fields()[i].dataType(), true));
    }
    return UnsafeProjection.create(List$.MODULE$.from(CollectionConverters.asScala(columns)));
  }

  /** Makes rows of some columns of rows of this type. */
  static UnsafeProjection picked(StructType from, int[] places) {
    StructType made = new StructType();
    for (int place : places) {
      made = made.add(from.fields()[place]);
    }
    return projection(made, places);
  }
}
