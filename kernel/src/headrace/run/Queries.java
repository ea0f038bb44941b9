package headrace.run;

import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;

/** Starts the one query of a pipeline, with its epochs handled in the JVM. */
public final class Queries {
  private Queries() {}

  /**
   * @param bounded whether the query ends when the sources' present end is reached
   * @param intervalMillis the least time between two epochs, 0 for as fast as news comes
   */
  public static StreamingQuery start(
      Dataset<Row> packed,
      String name,
      String checkpoint,
      boolean bounded,
      long intervalMillis,
      VoidFunction2<Dataset<Row>, Long> epochs)
      throws TimeoutException {
    return packed
        .writeStream()
        .queryName(name)
        .outputMode(OutputMode.Append())
        .option("checkpointLocation", checkpoint)
        .trigger(bounded ? Trigger.AvailableNow() : Trigger.ProcessingTime(intervalMillis))
        .foreachBatch(epochs)
        .start();
  }

  /** Waits until the running epoch of a frozen query is committed, as long as it runs. */
  public static void settle(StreamingQuery query) throws InterruptedException {
    int quiet = 0;
    // A frozen query has no epochs to come: three looks that find no data to work on are the end of the last.
    while (query.isActive() && quiet < 3) {
      quiet = query.status().isDataAvailable() ? 0 : quiet + 1;
      Thread.sleep(20);
    }
  }
}
