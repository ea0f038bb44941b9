package headrace.operator;

import headrace.clock.Maxima;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * One layer of a pipeline made one stateful operator of Spark's.
 *
 * <p>Between the union with the clock and the operator stands nothing: a filter there would be pushed into the clock's branch by the
 * optimiser, and time would stop.
 */
public final class Layer {
  private Layer() {}

  /** {@code packed}: one binary column of packed source rows. {@code ticks}: the clock's rows, of {@link Inputs#SCHEMA}. */
  public static Dataset<Row> apply(Dataset<Row> packed, Dataset<Row> ticks, String layerJson, Maxima maxima) {
    return operator(front(packed, layerJson, maxima).union(ticks), layerJson);
  }

  /** A layer behind another one: its ticks come with the rows. */
  public static Dataset<Row> later(Dataset<Row> packed, String layerJson) {
    return operator(front(packed, layerJson, null), layerJson);
  }

  private static Dataset<Row> front(Dataset<Row> packed, String layerJson, Maxima maxima) {
    LayerSpec.parse(layerJson);
    return packed.as(Encoders.BINARY()).mapPartitions(new Front(layerJson, maxima), Encoders.row(Inputs.SCHEMA));
  }

  private static Dataset<Row> operator(Dataset<Row> inputs, String layerJson) {
    StructField program = Inputs.SCHEMA.fields()[Inputs.PROGRAM];
    StructField group = Inputs.SCHEMA.fields()[Inputs.GROUP];
    StructType key = new StructType(new StructField[] {program, group});
    Column[] keys = {functions.col(program.name()), functions.col(group.name())};
    return inputs
        .groupBy(keys)
        .as(Encoders.row(key), Encoders.row(Inputs.SCHEMA))
        .transformWithState(new Operator(layerJson), TimeMode.None(), OutputMode.Append(), Encoders.row(Outputs.SCHEMA));
  }
}
