package headrace.remote;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * The rows of one task, each with what a remote table says of its key. Many are read ahead, so that their keys are asked for together; they
 * leave in the order in which they came.
 */
final class LookedUp implements Iterator<Row> {
  private static final int ROW = 0;
  private static final int KEY = 1;
  private static final int MOST_ROWS = 16_384;
  private static final long MOST_BYTES = 16L << 20;

  private final Iterator<Row> rows;
  private final Answers answers;
  private final int batch;
  private final ArrayDeque<Row> ahead = new ArrayDeque<>();
  private Map<Object, Answer> found = Map.of();

  LookedUp(Iterator<Row> rows, Answers answers, int batch) {
    this.rows = rows;
    this.answers = answers;
    this.batch = batch;
  }

  @Override
  public boolean hasNext() {
    return !ahead.isEmpty() || rows.hasNext();
  }

  @Override
  public Row next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    if (ahead.isEmpty()) {
      readAhead();
    }
    Row row = ahead.poll();
    Object key = row.get(KEY);
    Answer answer = key == null ? Answer.NOTHING : found.get(key);
    return RowFactory.create(row.get(ROW), answer.row(), answer.reason());
  }

  private void readAhead() {
    // An answer that is known now may be forgotten once the others are there: all are asked for together.
    Set<Object> keys = new HashSet<>();
    int unknown = 0;
    long bytes = 0;
    while (unknown < batch && ahead.size() < MOST_ROWS && bytes < MOST_BYTES && rows.hasNext()) {
      Row row = rows.next();
      ahead.add(row);
      bytes += row.<byte[]>getAs(ROW).length;
      Object key = row.get(KEY);
      if (key != null && keys.add(key) && answers.known(key) == null) {
        unknown++;
      }
    }
    found = answers.ask(keys);
  }
}
