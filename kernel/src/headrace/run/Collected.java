package headrace.run;

import headrace.clock.Clock;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Epochs whose rows are kept on the driver: what tests read instead of a sink. */
public final class Collected implements VoidFunction2<Dataset<Row>, Long> {
  private final String query;
  private final int outlets;
  private final List<String[]> rows = new ArrayList<>();
  private long epochs;

  public Collected(String query, int outlets) {
    this.query = query;
    this.outlets = outlets;
  }

  @Override
  public synchronized void call(Dataset<Row> packed, Long epoch) {
    for (Row each : packed.collectAsList()) {
      byte[] bytes = each.getAs(0);
      UnsafeRow row = new UnsafeRow(outlets);
      row.pointTo(bytes, bytes.length);
      for (int outlet = 0; outlet < outlets; outlet++) {
        if (!row.isNullAt(outlet)) {
          UnsafeRow handed = row.getStruct(outlet, 2);
          rows.add(new String[] {
            epoch.toString(), Integer.toString(outlet), text(handed, 0), text(handed, 1)
          });
        }
      }
    }
    Clock.of(query).epochEnded(epoch);
    epochs++;
  }

  /** How many epochs there were in this run. */
  public synchronized long epochs() {
    return epochs;
  }

  /** Takes what was collected since the last call: epoch, outlet, key and value of each row. */
  public synchronized List<String[]> drain() {
    List<String[]> taken = new ArrayList<>(rows);
    rows.clear();
    return taken;
  }

  private static String text(UnsafeRow row, int ordinal) {
    return row.isNullAt(ordinal) ? null : new String(row.getBinary(ordinal), StandardCharsets.UTF_8);
  }
}
