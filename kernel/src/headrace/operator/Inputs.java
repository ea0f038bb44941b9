package headrace.operator;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The rows that enter an operator: one fixed schema for events, partials and ticks of every pipeline. */
public final class Inputs {
  public static final int PROGRAM = 0;
  public static final int GROUP = 1;
  public static final int KIND = 2;
  public static final int SOURCE = 3;
  public static final int PARTITION = 4;
  public static final int OFFSET = 5;
  public static final int TIME = 6;
  public static final int PAYLOAD = 7;

  /** A blob of partial aggregates of one window: time = the slice's number, offset = the least one in the blob. */
  public static final int PARTIALS = 0;
  /** One row of program 0, which passes through: time = the port it leaves by. */
  public static final int ROW = 1;
  /**
   * The clock's tick: time = W of the program, offset = the processing time in milliseconds, payload empty. Of program 0 it is for the
   * layers to come, and they are in the payload.
   */
  public static final int TICK = 2;
  /** A run of rows of a program, see {@link headrace.step.RowRun}: their places and times are in it. */
  public static final int ROWS = 3;
  /** The same, of a step's second input. */
  public static final int RIGHT = 4;

  /** The program whose rows pass through. */
  public static final int PASS = 0;

  public static final StructType SCHEMA = new StructType()
      .add("program", DataTypes.IntegerType, false)
      .add("grp", DataTypes.IntegerType, false)
      .add("kind", DataTypes.IntegerType, false)
      .add("source", DataTypes.IntegerType, false)
      .add("partition", DataTypes.IntegerType, false)
      .add("offset", DataTypes.LongType, false)
      .add("time", DataTypes.LongType, false)
      .add("payload", DataTypes.BinaryType, true);

  private Inputs() {}
}
