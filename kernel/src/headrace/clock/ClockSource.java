package headrace.clock;

import headrace.operator.Inputs;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The clock as a streaming source of Spark: a moved W alone starts an epoch, whose rows are ticks, one per
 * program and group, in the schema of an operator's input. Option {@code query}: the id of the clock.
 *
 * <p>Takes no filter and prunes no column on purpose: whatever an optimiser pushed in here would silence
 * the timers.
 */
public final class ClockSource implements TableProvider {
  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return Inputs.SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new Ticks();
  }

  private static final class Ticks implements Table, SupportsRead {
    @Override
    public String name() {
      return "headrace clock";
    }

    @Override
    @SuppressWarnings("deprecation")
    public StructType schema() {
      return Inputs.SCHEMA;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      String query = options.get("query");
      if (query == null) {
        throw new IllegalArgumentException("The clock source needs the option \"query\".");
      }
      return () -> new TickScan(query);
    }
  }

  private record TickScan(String query) implements Scan {
    @Override
    public StructType readSchema() {
      return Inputs.SCHEMA;
    }

    @Override
    public String description() {
      return "headrace clock of " + query;
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
      Clock clock = Clock.of(query);
      clock.start();
      return new TickStream(clock);
    }
  }

  private static final class TickStream implements MicroBatchStream, SupportsTriggerAvailableNow {
    private final Clock clock;
    private boolean bounded;

    TickStream(Clock clock) {
      this.clock = clock;
    }

    @Override
    public void prepareForTriggerAvailableNow() {
      bounded = true;
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
      if (clock.frozen(this)) {
        clock.askedFrozen("the clock");
        return start;
      }
      return clock.next((ClockOffset) start, bounded);
    }

    @Override
    public Offset latestOffset() {
      throw new UnsupportedOperationException("latestOffset(start, limit) is the one to call");
    }

    @Override
    public Offset reportLatestOffset() {
      return clock.current();
    }

    @Override
    public Offset initialOffset() {
      return clock.initial();
    }

    @Override
    public Offset deserializeOffset(String json) {
      return ClockOffset.parse(json);
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
      ClockOffset offset = (ClockOffset) end;
      // A replayed epoch is planned without asking for the latest offset first.
      clock.publish((ClockOffset) start, offset);
      List<ClockSpec.Program> beside = new ArrayList<>();
      Map<Integer, Long> later = new TreeMap<>();
      for (ClockSpec.Program program : clock.programs()) {
        if (program.layer() == 0) {
          beside.add(program);
        } else {
          later.put(program.id(), Clock.watermark(offset, program));
        }
      }
      int[] programs = new int[beside.size()];
      int[][] groups = new int[programs.length][];
      long[] watermarks = new long[programs.length];
      for (int i = 0; i < programs.length; i++) {
        programs[i] = beside.get(i).id();
        groups[i] = beside.get(i).groups();
        watermarks[i] = Clock.watermark(offset, beside.get(i));
      }
      byte[] carried = later.isEmpty() ? null : LaterTicks.write(later);
      return new InputPartition[] {new TickPartition(offset.tick, programs, groups, watermarks, carried)};
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return new TickReaders();
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}

    @Override
    public String toString() {
      return "headrace clock";
    }
  }

  /** {@code later}: the tick that passes this layer, null when there is no other. */
  private record TickPartition(long tick, int[] programs, int[][] groups, long[] watermarks, byte[] later)
      implements InputPartition {}

  private static final class TickReaders implements PartitionReaderFactory, Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return new TickReader((TickPartition) partition);
    }
  }

  private static final class TickReader implements PartitionReader<InternalRow> {
    private final TickPartition ticks;
    private int program;
    private int group = -1;

    TickReader(TickPartition ticks) {
      this.ticks = ticks;
    }

    @Override
    public boolean next() {
      group++;
      while (program < ticks.programs().length && group >= ticks.groups()[program].length) {
        program++;
        group = 0;
      }
      return program < ticks.programs().length || ticks.later() != null && group == 0;
    }

    @Override
    public InternalRow get() {
      if (program == ticks.programs().length) {
        return new GenericInternalRow(new Object[] {Inputs.PASS, 0, Inputs.TICK, 0, 0, ticks.tick(), 0L, ticks.later()});
      }
      return new GenericInternalRow(
          new Object[] {
            ticks.programs()[program],
            ticks.groups()[program][group],
            Inputs.TICK,
            0,
            0,
            ticks.tick(),
            ticks.watermarks()[program],
            null
          });
    }

    @Override
    public void close() {}
  }
}
