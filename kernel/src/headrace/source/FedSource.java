package headrace.source;

import headrace.clock.Clock;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A source with the columns of Kafka's, fed by hand: for tests. Options {@code query} and {@code source}.
 *
 * <p>What was fed stays until it is forgotten, so a query can be stopped and started again in one process.
 */
public final class FedSource implements TableProvider {
  static final StructType SCHEMA = new StructType()
      .add("key", DataTypes.BinaryType)
      .add("value", DataTypes.BinaryType)
      .add("topic", DataTypes.StringType)
      .add("partition", DataTypes.IntegerType)
      .add("offset", DataTypes.LongType)
      .add("timestamp", DataTypes.TimestampType)
      .add("timestampType", DataTypes.IntegerType);

  private static final Map<String, FedLog> LOGS = new ConcurrentHashMap<>();

  /** Appends a row to a partition. */
  public static void feed(
      String queryId, String source, int partition, byte[] key, byte[] value, long timestampMillis) {
    log(queryId, source).append(partition, key, value, timestampMillis);
  }

  /** Makes sure that there are at least so many partitions; a source begins with one. */
  public static void partitions(String queryId, String source, int count) {
    log(queryId, source).partitions(count);
  }

  /** Rows that one epoch takes at most, in the order in which they were fed; 0 for as many as there are. */
  public static void rowsPerEpoch(String queryId, String source, long rows) {
    log(queryId, source).rowsPerEpoch(rows);
  }

  /** Drops all that was fed to the sources of a query. */
  public static void forget(String queryId) {
    LOGS.keySet().removeIf(name -> name.startsWith(queryId + "/"));
  }

  private static FedLog log(String queryId, String source) {
    return LOGS.computeIfAbsent(queryId + "/" + source, name -> new FedLog(source));
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new Fed();
  }

  private static final class Fed implements Table, SupportsRead {
    @Override
    public String name() {
      return "headrace fed by hand";
    }

    @Override
    @SuppressWarnings("deprecation")
    public StructType schema() {
      return SCHEMA;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      String query = Steering.need(options, "query");
      String source = Steering.need(options, "source");
      return () -> new FedScan(query, source);
    }
  }

  private record FedScan(String query, String source) implements Scan {
    @Override
    public StructType readSchema() {
      return SCHEMA;
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
      Clock clock = Clock.of(query);
      FedStream stream = new FedStream(log(query, source), clock, source);
      clock.attach(source, stream);
      return stream;
    }
  }
}
