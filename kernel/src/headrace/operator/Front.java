package headrace.operator;

import headrace.clock.Maxima;
import java.util.Iterator;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;

/** The map side of a layer: packed source rows in, operator inputs out. */
public final class Front implements MapPartitionsFunction<byte[], Row> {
  private static final long serialVersionUID = 1;
  private final String layerJson;
  private final Maxima maxima;

  public Front(String layerJson, Maxima maxima) {
    this.layerJson = layerJson;
    this.maxima = maxima;
  }

  @Override
  public Iterator<Row> call(Iterator<byte[]> packed) {
    return new FrontRows(LayerSpec.parse(layerJson), packed, maxima);
  }
}
