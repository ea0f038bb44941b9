package headrace.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.google.common.base.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Test;

/** What is asked for, how many at a time, and how long an answer counts; the time is moved by hand. */
class AnswersTest {
  private static final int BATCH = 10;
  private static final Duration KEEP = Duration.ofMinutes(1);

  private final List<Collection<Object>> asked = new ArrayList<>();
  private byte version = 1;
  private long now;
  private final Answers answers = new Answers(this::rows, BATCH, KEEP, 1_000, new Ticker() {
    @Override
    public long read() {
      return now;
    }
  });

  /** A table of the even keys. */
  private Map<Object, Answer> rows(Collection<Object> keys) {
    asked.add(List.copyOf(keys));
    Map<Object, Answer> found = new HashMap<>();
    for (Object key : keys) {
      if ((Long) key % 2 == 0) {
        found.put(key, new Answer(new byte[] {version, ((Long) key).byteValue()}, null));
      }
    }
    return found;
  }

  private List<Row> lookUp(Long... keys) {
    List<Row> rows = new ArrayList<>();
    for (int number = 0; number < keys.length; number++) {
      rows.add(RowFactory.create(new byte[] {(byte) number}, keys[number]));
    }
    List<Row> found = new ArrayList<>();
    for (Iterator<Row> all = new LookedUp(rows.iterator(), answers, BATCH); all.hasNext();) {
      found.add(all.next());
    }
    return found;
  }

  @Test
  void rowsKeepTheirOrderAndEachFindsItsOwn() {
    List<Row> found = lookUp(4L, null, 7L, 2L, 4L);
    assertEquals(5, found.size());
    for (int number = 0; number < found.size(); number++) {
      assertArrayEquals(new byte[] {(byte) number}, found.get(number).<byte[]>getAs(0));
    }
    assertArrayEquals(new byte[] {1, 4}, found.get(0).<byte[]>getAs(1));
    assertNull(found.get(1).get(1), "a key that is null equals nothing");
    assertNull(found.get(2).get(1), "there is no such row");
    assertArrayEquals(new byte[] {1, 2}, found.get(3).<byte[]>getAs(1));
    assertArrayEquals(new byte[] {1, 4}, found.get(4).<byte[]>getAs(1));
    assertEquals(1, asked.size());
    assertEquals(3, asked.get(0).size(), "each key once, and no null");
  }

  @Test
  void keysAreAskedForInBatches() {
    Long[] keys = IntStream.range(0, 25).mapToObj(key -> (long) key).toArray(Long[]::new);
    lookUp(keys);
    assertEquals(List.of(10, 10, 5), asked.stream().map(Collection::size).toList());
    lookUp(keys);
    assertEquals(3, asked.size(), "also that there is no row is known now");
    assertEquals(25, answers.misses());
    assertEquals(25, answers.hits());
  }

  @Test
  void knownKeysDoNotFillABatch() {
    Long[] keys = IntStream.range(0, 100).mapToObj(number -> number % 10 == 0 ? 1_000L + number : number % 5).toArray(Long[]::new);
    lookUp(keys);
    assertEquals(2, asked.size(), () -> "asked for " + asked);
  }

  @Test
  void anAnswerCountsForAMinuteAndNoLonger() {
    lookUp(2L, 3L);
    version = 2;
    now += KEEP.toNanos() - 1;
    assertArrayEquals(new byte[] {1, 2}, lookUp(2L).get(0).<byte[]>getAs(1));
    assertEquals(1, asked.size());
    now += 1;
    assertArrayEquals(new byte[] {2, 2}, lookUp(2L, 3L).get(0).<byte[]>getAs(1));
    assertEquals(2, asked.get(1).size(), "what was not there is asked for again, too");
  }

  @Test
  void whatIsNotKeptIsAskedForAgain() {
    Answers forgetful = new Answers(this::rows, BATCH, Duration.ZERO, 1_000, Ticker.systemTicker());
    forgetful.ask(List.of(2L));
    assertArrayEquals(new byte[] {1, 2}, forgetful.ask(List.of(2L)).get(2L).row());
    assertEquals(2, asked.size());
  }
}
