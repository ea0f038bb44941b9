package headrace.source;

import headrace.clock.Clock;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaSourceProvider;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's Kafka source with two things added: the rows of an epoch are capped and follow the time that an
 * epoch takes, and the clock is told where every partition stands.
 *
 * <p>Reads, offsets and checkpoint are Spark's own, byte for byte. Options besides Spark's: {@code query}
 * (the clock's id), {@code source} (its name in the clock), {@code maxRowsPerEpoch} (100000 at the start),
 * {@code targetEpochMillis} (2000), {@code fixedRowsPerEpoch} (no adapting), {@code freshMillis} (15: what
 * the broker said so long ago is not asked again, nor what it said 40 ms ago on a topic that is quiet).
 */
public final class SteeredKafka implements TableProvider {
  private final KafkaSourceProvider kafka = new KafkaSourceProvider();

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return kafka.inferSchema(options);
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new Topic(kafka.getTable(new CaseInsensitiveStringMap(properties)));
  }

  private record Topic(Table kafka) implements Table, SupportsRead {
    @Override
    public String name() {
      return "headrace kafka";
    }

    @Override
    @SuppressWarnings("deprecation")
    public StructType schema() {
      return kafka.schema();
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      Steering steering = Steering.of(options);
      Scan scan = ((SupportsRead) kafka).newScanBuilder(options).build();
      return () -> new SteeredScan(scan, steering);
    }
  }

  private record SteeredScan(Scan scan, Steering steering) implements Scan {
    @Override
    public StructType readSchema() {
      return scan.readSchema();
    }

    @Override
    public String description() {
      return "headrace kafka " + steering.topic();
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
      Clock clock = Clock.of(steering.query());
      // The location is where Spark's source keeps the offsets that a "latest" or a time stood for.
      KafkaMicroBatchStream stream = (KafkaMicroBatchStream) scan.toMicroBatchStream(checkpointLocation);
      SteeredStream steered = new SteeredStream(stream, clock, steering);
      clock.attach(steering.source(), steered);
      return steered;
    }
  }
}
