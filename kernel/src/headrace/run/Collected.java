package headrace.run;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.clock.Clock;
import headrace.step.Ledger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.Tuple2;

/** Epochs whose rows are kept on the driver: what tests read instead of a sink. */
public final class Collected implements VoidFunction2<Dataset<Row>, Long> {
  private final String query;
  private final int outlets;
  private final int ledger;
  private final TreeMap<Integer, Ledger> accounts = new TreeMap<>();
  private final List<String[]> rows = new ArrayList<>();
  private long epochs;

  /** {@code ledger}: which outlet has the lines of the ledger. */
  public Collected(String query, int outlets, int ledger) {
    this.query = query;
    this.outlets = outlets;
    this.ledger = ledger;
  }

  @Override
  public synchronized void call(Dataset<Row> packed, Long epoch) {
    MapPartitionsFunction<byte[], Tuple2<Integer, byte[]>> numbered = Collected::numbered;
    List<Tuple2<Integer, byte[]>> handedOver =
        packed
            .as(Encoders.BINARY())
            .mapPartitions(numbered, Encoders.tuple(Encoders.INT(), Encoders.BINARY()))
            .collectAsList();
    for (Tuple2<Integer, byte[]> each : handedOver) {
      byte[] bytes = each._2();
      UnsafeRow row = new UnsafeRow(outlets);
      row.pointTo(bytes, bytes.length);
      for (int outlet = 0; outlet < outlets; outlet++) {
        if (!row.isNullAt(outlet)) {
          UnsafeRow handed = row.getStruct(outlet, 2);
          if (outlet == ledger) {
            byte[] line = handed.getBinary(1);
            accounts.computeIfAbsent(Ledger.program(line), program -> new Ledger()).add(line);
            continue;
          }
          rows.add(new String[] {
            epoch.toString(), each._1().toString(), Integer.toString(outlet), text(handed, 0), text(handed, 1)
          });
        }
      }
    }
    accounts.forEach((program, account) -> {
      if (!account.closes()) {
        throw new IllegalStateException("the ledger of program " + program + " does not close in epoch " + epoch + ": " + account);
      }
    });
    Clock.of(query).epochEnded(epoch);
    epochs++;
  }

  /** How many epochs there were in this run. */
  public synchronized long epochs() {
    return epochs;
  }

  /** The ledger so far, by program, as JSON. */
  public synchronized String ledger() {
    ObjectNode json = new ObjectMapper().createObjectNode();
    accounts.forEach((program, account) -> account.put(json.putObject(program.toString())));
    return json.toString();
  }

  /** The hot keys so far, by program, as JSON. */
  public synchronized String hot() {
    ObjectNode json = new ObjectMapper().createObjectNode();
    accounts.forEach((program, account) -> {
      ObjectNode keys = json.putObject(program.toString());
      account.hot().forEach(key -> keys.put(key.key(), key.share()));
    });
    return json.toString();
  }

  /** Takes what was collected since the last call: epoch, task, outlet, key and value of each row, in the task's order. */
  public synchronized List<String[]> drain() {
    List<String[]> taken = new ArrayList<>(rows);
    rows.clear();
    return taken;
  }

  private static Iterator<Tuple2<Integer, byte[]>> numbered(Iterator<byte[]> rows) {
    int task = TaskContext.getPartitionId();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Tuple2<Integer, byte[]> next() {
        return new Tuple2<>(task, rows.next());
      }
    };
  }

  private static String text(UnsafeRow row, int ordinal) {
    return row.isNullAt(ordinal) ? null : new String(row.getBinary(ordinal), StandardCharsets.UTF_8);
  }
}
