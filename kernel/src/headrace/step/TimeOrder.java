package headrace.step;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InterpretedOrdering;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.List$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Rows by their time, those of one time by columns of their own, then by their position in the source. */
final class TimeOrder implements Comparator<JoinRow> {
  private final InterpretedOrdering columns;
  private final UnsafeRow left;
  private final UnsafeRow right;

  private TimeOrder(StructType row, String[] directions, int first) {
    List<SortOrder> orders = new ArrayList<>();
    for (int i = 0; i < directions.length; i++) {
      Expression column = new BoundReference(first + i, row.fields()[first + i].dataType(), true);
      orders.add(new SortOrder(column, directions[i].startsWith("desc") ? Descending$.MODULE$ : Ascending$.MODULE$,
          directions[i].endsWith("last") ? NullsLast$.MODULE$ : NullsFirst$.MODULE$, seq(List.<Expression>of())));
    }
    columns = new InterpretedOrdering(seq(orders));
    left = new UnsafeRow(row.size());
    right = new UnsafeRow(row.size());
  }

  /** @param directions of the columns that rows of one time are ordered by, which begin with the row's {@code first} */
  static Comparator<JoinRow> of(StructType row, String[] directions, int first) {
    return directions.length == 0 ? JoinRow.BY_TIME : new TimeOrder(row, directions, first);
  }

  @Override
  public int compare(JoinRow one, JoinRow other) {
    int order = Long.compare(one.time, other.time);
    if (order == 0) {
      one.columns(left);
      other.columns(right);
      order = columns.compare(left, right);
    }
    return order == 0 ? JoinRow.BY_PLACE.compare(one, other) : order;
  }

  private static <T> Seq<T> seq(List<T> list) {
    return List$.MODULE$.from(CollectionConverters.asScala(list));
  }
}
