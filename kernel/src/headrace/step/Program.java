package headrace.step;

import headrace.aggregate.AggregateSpec;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** A program of a layer as the plan wrote it down: what its events look like, what it computes, and the ports that it speaks through. */
public record Program(int id, String name, int[] groups, TumblingWindow window, StructType key, StructType inputs, StructType row,
    List<AggregateSpec> aggregates, int port, Integer latePort, Integer rejectedPort, StructType output, StructType late) {

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
    int fields = key.size() + 1 + aggregates.size() + 2;
    if (output.size() != fields) {
      throw new IllegalArgumentException("the panes of program '" + name + "' have " + fields
          + " fields (key, window, aggregates, pane, pane_index), its output declares " + output.size());
    }
    if (latePort != null && late.size() != row.size() + 1) {
      throw new IllegalArgumentException("late rows of program '" + name + "' have " + (row.size() + 1)
          + " fields (the row, late_by_seconds), its late output declares " + late.size());
    }
  }

  /** The place of a key's group among {@link #groups}: a function of the key alone, so that state can be spread anew. */
  public int slot(int keyHash) {
    return Math.floorMod(keyHash, groups.length);
  }
}
