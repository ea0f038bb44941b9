package headrace.state;

import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import scala.Tuple2;

/** Cells in Spark's state store. Spark itself scopes them to the grouping key, which is (program, group). */
public final class SparkCells implements Cells {
  private final ValueState<byte[]> header;
  private final MapState<byte[], byte[]> cells;

  /** The names are part of the checkpoint: Spark silently begins anew under a changed one. */
  public SparkCells(StatefulProcessorHandle handle) {
    header = handle.getValueState("header", Encoders.BINARY(), TTLConfig.NONE());
    cells = handle.getMapState("cells", Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
  }

  @Override
  public byte[] header() {
    return header.get();
  }

  @Override
  public void putHeader(byte[] value) {
    header.update(value);
  }

  @Override
  public void removeHeader() {
    header.clear();
  }

  @Override
  public byte[] get(byte[] key) {
    return cells.getValue(key);
  }

  @Override
  public void put(byte[] key, byte[] value) {
    cells.updateValue(key, value);
  }

  @Override
  public void remove(byte[] key) {
    cells.removeKey(key);
  }

  @Override
  public Iterator<Map.Entry<byte[], byte[]>> scan() {
    scala.collection.Iterator<Tuple2<byte[], byte[]>> all = cells.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return all.hasNext();
      }

      @Override
      public Map.Entry<byte[], byte[]> next() {
        Tuple2<byte[], byte[]> cell = all.next();
        return Map.entry(cell._1(), cell._2());
      }
    };
  }
}
