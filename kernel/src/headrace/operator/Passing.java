package headrace.operator;

import headrace.clock.Maxima;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/** A pipeline without stateful steps: its rows go from the front to their ports through one shuffle. */
public final class Passing {
  private Passing() {}

  /** The rows of {@link Outputs#SCHEMA}, spread over as many partitions as deliveries have tasks. */
  public static Dataset<Row> apply(Dataset<Row> packed, String layerJson, Maxima maxima) {
    int partitions = LayerSpec.parse(layerJson).partitions();
    // Rows that pass through have the number of their port where others have a time.
    return packed
        .as(Encoders.BINARY())
        .mapPartitions(new Front(layerJson, maxima), Encoders.row(Inputs.SCHEMA))
        .repartition(partitions, functions.col("program"), functions.col("grp"))
        .select(
            functions.col("time").cast(DataTypes.IntegerType).as("port"),
            functions.lit(0L).as("time"),
            functions.col("source"),
            functions.col("partition"),
            functions.col("offset"),
            functions.col("payload"));
  }
}
