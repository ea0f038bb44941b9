package headrace.run;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.spark.sql.streaming.SourceProgress;
import org.apache.spark.sql.streaming.StreamingQueryListener;

/**
 * What is told of each epoch, as lines of JSON that wait until somebody takes them.
 *
 * <p>Two halves make a line: the counts that came back with the deliveries, and the times and input
 * rows that Spark reports after its commit. The counts are results of tasks, not accumulators, so a
 * task that was tried twice counts once.
 */
public final class Progress extends StreamingQueryListener {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int KEPT = 10_000;

  private final String clockSource;
  private final Map<Long, ObjectNode> counted = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
  private volatile String queryRun = "";

  /** The clock is a source too; its rows are not input. */
  public Progress(String clockSource) {
    this.clockSource = clockSource;
  }

  /** Listens to the run of one query only. */
  public void follow(String runId) {
    this.queryRun = runId;
  }

  void counted(long epoch, ObjectNode counts) {
    counted.put(epoch, counts);
  }

  /** Whether Spark has reported every epoch that was delivered. */
  public boolean told() {
    return counted.isEmpty();
  }

  /** Takes the lines that have come since the last call. */
  public List<String> drain() {
    List<String> taken = new ArrayList<>();
    for (String line = lines.poll(); line != null; line = lines.poll()) {
      taken.add(line);
    }
    return taken;
  }

  @Override
  public void onQueryProgress(QueryProgressEvent event) {
    if (!event.progress().runId().toString().equals(queryRun)) {
      return;
    }
    ObjectNode line = counted.remove(event.progress().batchId());
    if (line == null) {
      return;
    }
    long rows = 0;
    for (SourceProgress source : event.progress().sources()) {
      if (!source.description().contains(clockSource)) {
        rows += source.numInputRows();
      }
    }
    line.put("rows_in", rows);
    Long whole = event.progress().durationMs().get("triggerExecution");
    line.put("epoch_ms", whole == null ? 0L : whole);
    ObjectNode durations = line.putObject("durations_ms");
    event.progress().durationMs().forEach(durations::put);
    if (lines.size() >= KEPT) {
      lines.poll();
    }
    lines.add(write(line));
  }


  private static String write(ObjectNode line) {
    try {
      return JSON.writeValueAsString(line);
    } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  @Override
  public void onQueryStarted(QueryStartedEvent event) {}

  @Override
  public void onQueryTerminated(QueryTerminatedEvent event) {}
}
