package headrace.step;

import headrace.aggregate.AggregateSpec;
import headrace.aggregate.Layout;
import headrace.aggregate.Moves;
import headrace.aggregate.Span;
import headrace.trigger.Accumulation;
import headrace.trigger.Trigger;
import headrace.window.SessionWindow;
import headrace.window.StatedWindows;
import headrace.window.Window;
import headrace.window.Windows;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * A program of a layer as the plan wrote it down: what its events look like, what it computes, and the ports that it speaks through.
 *
 * @param window null for a step that has no windows
 * @param within how long a step that has no windows remembers, in microseconds
 * @param table what a step does that makes a table, or works on one; null for all others
 * @param chained whether its rows come from another stateful step: they are judged by the watermark of the epoch before, since those of
 *     this one left that step before time went on
 */
public record Program(int id, String name, int[] groups, Window window, Trigger trigger, long lateness, Accumulation accumulation,
    long within, boolean chained, StructType key, StructType inputs, StructType row, List<AggregateSpec> aggregates, int port,
    Integer latePort, Integer duplicatePort, Integer rejectedPort, StructType output, StructType late, TableSpec table) {

  /** The fields of an exit to a program: {@code struct<time, key, inputs, row>}. */
  public static final int EXIT_TIME = 0;
  public static final int EXIT_KEY = 1;
  public static final int EXIT_INPUTS = 2;
  public static final int EXIT_ROW = 3;
  public static final int EXIT_FIELDS = 4;

  /** What leaves by the rejected port. */
  public static final StructType REJECTED = new StructType()
      .add("topic", DataTypes.StringType).add("partition", DataTypes.IntegerType).add("offset", DataTypes.LongType)
      .add("timestamp", DataTypes.TimestampType).add("key", DataTypes.BinaryType).add("value", DataTypes.BinaryType)
      .add("step", DataTypes.StringType).add("reason", DataTypes.StringType);

  public Program {
    if (groups.length == 0) {
      throw new IllegalArgumentException("program '" + name + "' has no key groups");
    }
    if (window != null) {
      boolean stated = window instanceof StatedWindows;
      boolean changes = accumulation == Accumulation.RETRACTING;
      int fields = key.size() - (stated ? StatedWindows.KEY_FIELDS : 0) + 1 + aggregates.size() + 3 + (changes ? 1 : 0);
      if (output.size() != fields) {
        throw new IllegalArgumentException("the panes of program '" + name + "' have " + fields
            + " fields (key, window, aggregates, pane, pane_index, pane_last, change when retracting), its output declares " + output.size());
      }
    }
    if (latePort != null && late.size() != row.size() + 1) {
      throw new IllegalArgumentException("late rows of program '" + name + "' have " + (row.size() + 1)
          + " fields (the row, late_by_seconds), its late output declares " + late.size());
    }
  }

  public Program(int id, String name, int[] groups, Window window, Trigger trigger, long lateness, Accumulation accumulation, long within,
      boolean chained, StructType key, StructType inputs, StructType row, List<AggregateSpec> aggregates, int port, Integer latePort,
      Integer duplicatePort, Integer rejectedPort, StructType output, StructType late) {
    this(id, name, groups, window, trigger, lateness, accumulation, within, chained, key, inputs, row, aggregates, port, latePort,
        duplicatePort, rejectedPort, output, late, null);
  }

  /** The place of a key's group among {@link #groups}: a function of the key alone, so that state can be spread anew. */
  public int slot(int keyHash) {
    return Math.floorMod(keyHash, groups.length);
  }

  /** Whether the step aggregates a table. */
  public boolean isOfGroups() {
    return table != null && table.kind() == TableSpec.Kind.GROUPS;
  }

  /** Whether the step goes by time at all. */
  public boolean isTimed() {
    return table == null || table.kind() == TableSpec.Kind.LATEST || table.kind() == TableSpec.Kind.FOLD;
  }

  /** Whether events are combined before the shuffle: not where a step wants each by itself. */
  public boolean combines() {
    return window instanceof Windows || window instanceof SessionWindow || isOfGroups();
  }

  /** The accumulators of the step; those of sessions also say when their events were. */
  public Layout layout() {
    if (isOfGroups()) {
      return Layout.moving(aggregates, new Moves());
    }
    return window instanceof SessionWindow ? Layout.spanning(aggregates, new Span()) : Layout.of(aggregates);
  }

  /** When a window of this end can change no more. */
  public long closed(long end) {
    return end > Long.MAX_VALUE - lateness ? Long.MAX_VALUE : end + lateness;
  }
}
