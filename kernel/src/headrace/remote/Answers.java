package headrace.remote;

import com.google.common.base.Ticker;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** The answers of a remote table, kept for a time; that there is no row is an answer too. */
public final class Answers implements Asked {
  private final Asked table;
  private final int batch;
  private final Cache<Object, Answer> kept;
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();

  public Answers(Asked table, int batch, Duration keep, long rows, Ticker ticker) {
    this.table = table;
    this.batch = batch;
    kept = CacheBuilder.newBuilder().ticker(ticker).expireAfterWrite(keep).maximumSize(rows).build();
  }

  /** How many keys there was an answer for. */
  public long hits() {
    return hits.sum();
  }

  /** How many keys the table was asked for. */
  public long misses() {
    return misses.sum();
  }

  /** The answer that is kept for a key, or null. */
  Answer known(Object key) {
    return kept.getIfPresent(key);
  }

  @Override
  public Map<Object, Answer> ask(Collection<Object> keys) {
    Map<Object, Answer> found = new HashMap<>(2 * keys.size());
    List<Object> missing = new ArrayList<>();
    for (Object key : keys) {
      Answer known = known(key);
      if (known == null) {
        missing.add(key);
      } else {
        found.put(key, known);
      }
    }
    hits.add(found.size());
    misses.add(missing.size());
    for (int from = 0; from < missing.size(); from += batch) {
      List<Object> part = missing.subList(from, Math.min(from + batch, missing.size()));
      Map<Object, Answer> answered = table.ask(part);
      for (Object key : part) {
        Answer answer = answered.getOrDefault(key, Answer.NOTHING);
        found.put(key, answer);
        kept.put(key, answer);
      }
    }
    return found;
  }
}
