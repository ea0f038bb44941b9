package headrace.step;

import headrace.expression.Compiled;
import headrace.expression.Failure;
import headrace.pattern.Earlier;
import headrace.pattern.Event;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * Evaluates the conditions of a pattern that look at earlier events: over the columns of the event, and for each step that is looked at an
 * array of the events that it has taken.
 *
 * <p>Where one fails it does not hold, and the event is told, once.
 */
public final class EarlierConditions implements Earlier {
  /** A condition: its bit, what is evaluated (see {@link Compiled}), and the steps that it looks at. */
  public record Condition(int bit, String evaluated, int[] steps) {}

  private final List<Condition> conditions;
  private final UnsafeProjection[] projections;
  private final EventRows rows;
  private final JoinedRow joined = new JoinedRow();
  private final Set<Event> told = new HashSet<>();
  private BiConsumer<UnsafeRow, String> failed;

  EarlierConditions(Matching matching, EventRows rows) {
    conditions = matching.earlier();
    projections = new UnsafeProjection[conditions.size()];
    this.rows = rows;
  }

  /** Goes on with another key; {@code failed} is told the row of an event for which a condition fails, and why. */
  void open(BiConsumer<UnsafeRow, String> failed) {
    this.failed = failed;
    told.clear();
  }

  @Override
  public long fulfilled(long wanted, Event event, List<List<Event>> taken) {
    long found = 0;
    for (int i = 0; i < projections.length; i++) {
      if ((wanted >>> conditions.get(i).bit & 1) != 0 && holds(i, event, taken)) {
        found |= 1L << conditions.get(i).bit;
      }
    }
    return found;
  }

  private boolean holds(int number, Event event, List<List<Event>> taken) {
    if (projections[number] == null) {
      projections[number] = Compiled.projection(conditions.get(number).evaluated);
    }
    List<Object> arrays = new ArrayList<>();
    for (int step : conditions.get(number).steps) {
      arrays.add(new GenericArrayData(taken.get(step).stream().map(rows::of).toArray()));
    }
    UnsafeRow row = rows.of(event);
    try {
      UnsafeRow value = projections[number].apply(joined.apply(row, new GenericInternalRow(arrays.toArray())));
      return !value.isNullAt(0) && value.getBoolean(0);
    } catch (RuntimeException failure) {
      // What an expression left half done must not be in the next event's value.
      projections[number] = null;
      if (told.add(event)) {
        failed.accept(row, Failure.reason(failure));
      }
      return false;
    }
  }
}
