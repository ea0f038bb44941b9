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
 * @param within how long a step that has no windows remembers, in microseconds, or {@link #FOREVER}
 * @param slice how many microseconds of event time such a step holds together; a state that has slices of another length keeps them
 * @param interval null for a step that joins no streams
 * @param lookup null for a step that joins no stream with a table
 * @param table what a step does that makes a table, or works on one; null for all others
 * @param matching null for a step that looks for no pattern
 * @param chained whether its rows come from another stateful step: they are judged by the watermark of the epoch before, since those of
 *     this one left that step before time went on
 * @param sides its inputs: one, or two of a step that joins
 */
public record Program(int id, String name, int[] groups, Window window, Trigger trigger, long lateness, Accumulation accumulation,
    long within, long slice, Interval interval, Lookup lookup, boolean chained, StructType key, StructType inputs, List<Side> sides, List<AggregateSpec> aggregates, int port,
    Integer duplicatePort, Integer rejectedPort, StructType output, TableSpec table, Matching matching) {

  /** Nothing is forgotten. */
  public static final long FOREVER = Long.MAX_VALUE;

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

  /** A program that looks for no pattern. */
  public Program(int id, String name, int[] groups, Window window, Trigger trigger, long lateness, Accumulation accumulation, long within,
      long slice, Interval interval, Lookup lookup, boolean chained, StructType key, StructType inputs, List<Side> sides, List<AggregateSpec> aggregates,
      int port, Integer duplicatePort, Integer rejectedPort, StructType output, TableSpec table) {
    this(id, name, groups, window, trigger, lateness, accumulation, within, slice, interval, lookup, chained, key, inputs, sides, aggregates, port,
        duplicatePort, rejectedPort, output, table, null);
  }

  public Program {
    if (groups.length == 0) {
      throw new IllegalArgumentException("program '" + name + "' has no key groups");
    }
    int made = made(aggregates);
    if (window != null) {
      boolean stated = window instanceof StatedWindows;
      boolean changes = accumulation == Accumulation.RETRACTING;
      int fields = key.size() - (stated ? StatedWindows.KEY_FIELDS : 0) + 1 + made + 3 + (changes ? 1 : 0);
      if (output.size() != fields) {
        throw new IllegalArgumentException("the panes of program '" + name + "' have " + fields + " fields (key, window, "
            + "aggregates or rank and columns, pane, pane_index, pane_last, change when retracting), its output declares " + output.size());
      }
    } else if (made > 0 && table == null && output.size() != key.size() + made + 1) {
      throw new IllegalArgumentException("the changes of program '" + name + "' have " + (key.size() + made + 1)
          + " fields (key, rank, columns, change), its output declares " + output.size());
    }
    sides = List.copyOf(sides);
    if (sides.isEmpty()) {
      throw new IllegalArgumentException("program '" + name + "' has no inputs");
    }
  }

  private static int made(List<AggregateSpec> aggregates) {
    StructType shown = shown(aggregates);
    return shown == null ? aggregates.size() : 1 + shown.size();
  }

  private static StructType shown(List<AggregateSpec> aggregates) {
    return aggregates.isEmpty() ? null : aggregates.get(0).shown();
  }

  /** The columns of the rows that are given by rank; null where aggregates are given. */
  public StructType shown() {
    return shown(aggregates);
  }

  /** Whether its result is a ranking that stands and changes, without windows. */
  public boolean stands() {
    return window == null && shown() != null;
  }

  /** What the rows of a step's only input look like. */
  public StructType row() {
    return only().row();
  }

  private Side only() {
    if (sides.size() > 1) {
      throw new IllegalStateException("step '" + name + "' has " + sides.size() + " inputs");
    }
    return sides.get(0);
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
    if (lookup != null) {
      return !lookup.current();
    }
    return table == null || table.kind() == TableSpec.Kind.LATEST || table.kind() == TableSpec.Kind.FOLD;
  }

  /** Whether events are combined before the shuffle: not where a step wants each by itself. */
  public boolean combines() {
    return window instanceof Windows || window instanceof SessionWindow || stands() || isOfGroups();
  }

  /**
   * Whether the step may ask for the columns of a row, beside its key and inputs: a step that only lets rows pass gives them on, others
   * only when a row is late and somebody listens.
   */
  public boolean wantsRow(boolean late) {
    return window == null && !stands() || late && sides.get(0).latePort() != null;
  }

  /** The accumulators of the step; those of sessions and standing rankings also say when their events were. */
  public Layout layout() {
    if (isOfGroups()) {
      return Layout.moving(aggregates, new Moves());
    }
    return window instanceof SessionWindow || stands() ? Layout.spanning(aggregates, new Span()) : Layout.of(aggregates);
  }

  /** Whether what happened last at this time is forgotten, in a step that has no windows. */
  public boolean forgets(long time, long watermark) {
    return within != FOREVER && watermark >= remembered(time);
  }

  /** The watermark at which what happened last at this time is forgotten, in a step that has no windows. */
  public long remembered(long time) {
    return time > Long.MAX_VALUE - within ? Long.MAX_VALUE : time + within;
  }

  /** When a window of this end can change no more. */
  public long closed(long end) {
    return end > Long.MAX_VALUE - lateness ? Long.MAX_VALUE : end + lateness;
  }
}
