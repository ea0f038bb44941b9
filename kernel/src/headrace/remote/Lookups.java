package headrace.remote;

import com.google.common.base.Ticker;
import headrace.expression.Expressions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The look-ups of this JVM: each has one cache and one limit of queries, whichever tasks work for it. */
public final class Lookups {
  private static final ConcurrentHashMap<RemoteTable, Opened> OPENED = new ConcurrentHashMap<>();
  private static final StructType ANSWERED = new StructType()
      .add("row", DataTypes.BinaryType).add("found", DataTypes.BinaryType).add("reason", DataTypes.StringType);

  private record Opened(Postgres server, Answers answers) {
    static Opened of(RemoteTable table) {
      Postgres server = new Postgres(table);
      Duration keep = Duration.ofMillis(table.keepMillis());
      return new Opened(server, new Answers(server, table.batch(), keep, table.keepRows(), Ticker.systemTicker()));
    }
  }

  private Lookups() {}

  /**
   * Adds to a frame what a remote table says of the keys in one of its columns.
   *
   * @param found the name of the new column: a struct of the row, null if there is none, and of the reason why it cannot be used
   */
  public static Dataset<Row> apply(Dataset<Row> frame, String key, String found, String json) {
    RemoteTable table = RemoteTable.parse(json);
    StructType schema = frame.schema();
    Column[] all = Arrays.stream(schema.fieldNames()).map(functions::col).toArray(Column[]::new);
    Dataset<Row> answered = frame
        .select(Expressions.pack(functions.struct(all)).as("row"), functions.col(key).as("key"))
        .mapPartitions(new Task(table), Encoders.row(ANSWERED))
        .select(Expressions.unpack(functions.col("row"), schema).as("row"),
            functions.struct(Expressions.unpack(functions.col("found"), table.row()).as("row"), functions.col("reason")).as("found"));
    List<Column> columns = new ArrayList<>();
    for (String name : schema.fieldNames()) {
      columns.add(functions.col("row").getField(name).as(name));
    }
    columns.add(functions.col("found").as(found));
    return answered.select(columns.toArray(Column[]::new));
  }

  /** What each task does. */
  private record Task(RemoteTable table) implements MapPartitionsFunction<Row, Row> {
    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
      return new LookedUp(rows, OPENED.computeIfAbsent(table, Opened::of).answers, table.batch());
    }
  }

  /** Refuses a table that is not there, or not as it was declared. */
  public static void check(String json) {
    PostgresCheck.check(RemoteTable.parse(json));
  }

  /** What a look-up has done in this JVM: queries, keys that they asked for, keys that were known, tries that failed; only tests ask. */
  public static long[] counts(String pipeline, String step) {
    long[] counts = new long[4];
    OPENED.forEach((table, opened) -> {
      if (table.pipeline().equals(pipeline) && table.step().equals(step)) {
        counts[0] += opened.server.queries();
        counts[1] += opened.answers.misses();
        counts[2] += opened.answers.hits();
        counts[3] += opened.server.retries();
      }
    });
    return counts;
  }

  /** Ends the connections of a pipeline, and forgets what its look-ups know. */
  public static void close(String pipeline) {
    for (RemoteTable table : List.copyOf(OPENED.keySet())) {
      if (table.pipeline().equals(pipeline)) {
        Opened opened = OPENED.remove(table);
        if (opened != null) {
          opened.server.close();
        }
      }
    }
  }
}
