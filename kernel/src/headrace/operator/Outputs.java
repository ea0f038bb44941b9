package headrace.operator;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The rows that leave an operator: a port, when and from where, and the bytes of that port's struct. */
public final class Outputs {
  public static final int PORT = 0;
  public static final int TIME = 1;
  public static final int SOURCE = 2;
  public static final int PARTITION = 3;
  public static final int OFFSET = 4;
  public static final int PAYLOAD = 5;

  /** The port of ticks for later layers: offset = the processing time, payload see {@link headrace.clock.LaterTicks}. */
  public static final int TICKS = -1;
  /** The port of lines of the ledger, see {@link headrace.step.Ledger}. */
  public static final int LEDGER = -2;

  public static final StructType SCHEMA = new StructType()
      .add("port", DataTypes.IntegerType, false)
      .add("time", DataTypes.LongType, false)
      .add("source", DataTypes.IntegerType, false)
      .add("partition", DataTypes.IntegerType, false)
      .add("offset", DataTypes.LongType, false)
      .add("payload", DataTypes.BinaryType, true);

  private Outputs() {}
}
