package headrace.run;

import headrace.clock.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryStatus;
import org.apache.spark.sql.streaming.Trigger;

/** Starts the one query of a pipeline, with its epochs handled in the JVM. */
public final class Queries {
  /** What Spark says while a trigger interval has not passed. */
  private static final String WAITING = "Waiting for next trigger";

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

  /**
   * Waits until the running epoch of a frozen query is committed, for so long at most.
   *
   * @return whether it is, or the query has ended
   */
  public static boolean settle(StreamingQuery query, Clock clock, long millis) throws InterruptedException {
    long since = System.nanoTime();
    while (query.isActive() && !clock.quiet()) {
      // Between two triggers, which may be far apart, nothing is at work, and what comes finds no news.
      StreamingQueryStatus status = query.status();
      if (!status.isTriggerActive() && status.message().equals(WAITING)) {
        return true;
      }
      if (System.nanoTime() - since >= TimeUnit.MILLISECONDS.toNanos(millis)) {
        return false;
      }
      Thread.sleep(5);
    }
    return true;
  }
}
