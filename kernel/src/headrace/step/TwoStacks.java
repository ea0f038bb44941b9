package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Position;
import headrace.aggregate.Slots;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * The accumulators of a window that moves: rows enter at its end and leave at its start, and nothing can be taken away from a minimum.
 *
 * <p>Two stacks: the newer rows are added up as they come; when an old one is to leave, they are turned over into sums from each to the
 * last. Every row is merged twice at most.
 */
final class TwoStacks {
  private final Layout layout;
  private final List<Slots> newer = new ArrayList<>();
  private final ArrayDeque<Slots> older = new ArrayDeque<>();
  private Slots sum;

  TwoStacks(Layout layout) {
    this.layout = layout;
    sum = layout.scratch();
  }

  void push(UnsafeRow inputs, Position position) {
    Slots one = layout.scratch();
    layout.add(one, inputs, position);
    newer.add(one);
    layout.merge(sum, one);
  }

  /** Takes the oldest row out. */
  void pop() {
    if (older.isEmpty()) {
      Slots after = null;
      for (int i = newer.size() - 1; i >= 0; i--) {
        Slots from = layout.scratch();
        layout.merge(from, newer.get(i));
        if (after != null) {
          layout.merge(from, after);
        }
        older.push(from);
        after = from;
      }
      newer.clear();
      sum = layout.scratch();
    }
    older.pop();
  }

  /** The accumulators of all rows that are in. */
  Slots result() {
    Slots all = layout.scratch();
    if (!older.isEmpty()) {
      layout.merge(all, older.peek());
    }
    layout.merge(all, sum);
    return all;
  }
}
