package headrace.deliver;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;

/** The deliver job: packed rows in their final order go to their outlets, a summary per task comes back. */
public final class Delivery {
  private Delivery() {}

  /** Refuses a Spark that would run one task twice at a time: the two would fence each other without end. */
  public static void check(SparkConf conf) {
    if (conf.getBoolean("spark.speculation", false)) {
      throw new DeliveryException("spark.speculation is on, and two attempts of a delivery would fence each other",
          "set spark.speculation = false");
    }
  }

  /**
   * Delivers an epoch and says what it delivered.
   *
   * @param packed one BINARY column: the bytes of an UnsafeRow with one nullable struct (key, value) per outlet
   * @param spec the epoch's delivery as JSON, see {@link DeliverySpec}
   */
  public static ObjectNode deliver(Dataset<Row> packed, String spec) {
    DeliverySpec parsed = DeliverySpec.parse(spec);
    check(packed.sparkSession().sparkContext().conf());
    List<Summary> tasks = run(packed, parsed);
    if (parsed.views() != null) {
      // After the topics: whoever sees an epoch in a view finds it in the topics, too.
      Views.apply(parsed, tasks);
    }
    return Summary.total(tasks, parsed.outlets());
  }

  /** The same for callers over py4j, which rather have text. */
  public static String deliverJson(Dataset<Row> packed, String spec) {
    return deliver(packed, spec).toString();
  }

  /** Runs on the rows as they are inside Spark: a Dataset of summaries would be planned and compiled per epoch. */
  private static List<Summary> run(Dataset<Row> packed, DeliverySpec spec) {
    FlatMapFunction<Iterator<InternalRow>, Summary> task = rows -> Collections.singleton(task(spec, bytes(rows))).iterator();
    return ((org.apache.spark.sql.classic.Dataset<Row>) packed)
        .queryExecution().toRdd().toJavaRDD().mapPartitions(task).collect();
  }

  private static Iterator<byte[]> bytes(Iterator<InternalRow> rows) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public byte[] next() {
        return rows.next().getBinary(0);
      }
    };
  }

  private static Summary task(DeliverySpec spec, Iterator<byte[]> rows) {
    TaskContext context = TaskContext.get();
    // A changed number would also send rows to other tasks, whose markers know nothing of them.
    if (context.numPartitions() != spec.partitions()) {
      throw new IllegalStateException("the deliver job of pipeline " + spec.pipeline() + " has "
          + context.numPartitions() + " partitions; its checkpoint was begun with " + spec.partitions());
    }
    return task(spec, context.partitionId(), context.taskAttemptId(), rows);
  }

  /** What a task does, for whoever runs tasks without Spark. */
  public static Summary task(DeliverySpec spec, int task, long attempt, Iterator<byte[]> rows) {
    return new TaskDelivery(spec, task, Producers.POOL, System::nanoTime).run(rows, attempt);
  }
}
