package headrace.expression;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.internal.ColumnNodeLike;
import org.apache.spark.sql.internal.SortOrder;
import org.apache.spark.sql.types.DataType;
import scala.jdk.javaapi.CollectionConverters;

/** A column that rows are sorted by, and its direction: ascending with nulls first, as in {@code orderBy}, unless it says otherwise. */
public record Sorted(Column column, boolean ascending, boolean nullsFirst) {
  public static Sorted of(Column column) {
    Sorted sorted = column.node() instanceof SortOrder order
        ? new Sorted(new Column(order.child()), order.sortDirection() == SortOrder.Ascending$.MODULE$,
            order.nullOrdering() == SortOrder.NullsFirst$.MODULE$)
        : new Sorted(column, true, true);
    if (hasDirection(sorted.column.node())) {
      throw new IllegalArgumentException("a direction is said of the whole, and not inside of it: " + column);
    }
    return sorted;
  }

  private static boolean hasDirection(ColumnNodeLike node) {
    return node instanceof SortOrder || CollectionConverters.asJava(node.children()).stream().anyMatch(Sorted::hasDirection);
  }

  /** The direction as an aggregate of rows reads it. */
  public String direction() {
    return (ascending ? "asc" : "desc") + (nullsFirst ? " first" : " last");
  }

  /** Whether values of a type, given as Spark's JSON, can be sorted. */
  public static boolean sorts(String type) {
    return RowOrdering.isOrderable(DataType.fromJson(type));
  }
}
