package headrace.clock.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.clock.EpochWatermarks;
import java.util.List;
import java.util.Map;

/**
 * A lag that is learned: the least that leaves no more rows behind the watermark than the asked completeness
 * allows, and never more than a given one.
 *
 * <p>Lengths of memory are told in multiples of the rows among which one may be left behind (1,000 for 0.999).
 * The slow sketch remembers {@value #SLOW} times that many and gives the lag as long as nothing changes. The
 * fast one remembers {@value #FAST} times that many. When it holds more rows later than the slow one's lag than
 * chance explains ({@value #NEWS} standard deviations), lateness is growing, and nearly the longest that the fast
 * one knows is the lag until the slow one has learned it too. Where delays grow, lateness grows no faster than
 * event time goes on, so a lag that follows the last epochs closely loses next to nothing. Shorter lateness is
 * followed once the longer one has faded from the slow sketch, for 0.999 within seven times its memory: a lag that
 * is too long costs time, one that is too short costs rows.
 *
 * <p>What was really left behind decides in the end: if it was more of late than may be, the quantile is taken
 * stricter by as much, and looser if it was less (in long epochs many late rows are still ahead of a watermark
 * that is as old as the epoch).
 *
 * <p>Until {@value #WARM} times that many rows were seen (20,000 for 0.999) the lag is the longest allowed.
 * Forgetting is by rows, since silence teaches nothing; but the slow sketch remembers a minute of event time at
 * least, however many rows that is: what makes rows late (a pause, a hiccup of the network) comes and goes in
 * seconds.
 */
public final class Adaptive implements Learning {
  private static final int WARM = 20;
  private static final int SLOW = 50;
  private static final int FAST = 10;
  private static final int NEWS = 3;
  /** So much stricter at most, or looser: beyond that the quantile would be one single row of the fast sketch. */
  private static final double STRICTEST = 20;
  private static final double SHORTEST_MICROS = 60e6;
  private static final String KIND = "adaptive";

  private final double completeness;
  private final long atMostMicros;
  private final Partitions partitions;
  /** Rows until one may be left behind. */
  private final double rare;
  private final long warm;
  private Sketch slow = new Sketch();
  private Sketch fast = new Sketch();
  private long rows;
  private long behind;
  private double recentRows;
  private double recentBehind;
  /** Of the rows that may be left behind: as {@link #recentBehind}, and what may be until it is warm. */
  private double spent;
  /** The highest event time of all partitions. */
  private long at = EpochWatermarks.NONE;
  private long lag;

  /** An {@code idleMillis} below zero: no partition is ever idle. */
  public Adaptive(double completeness, long atMostMicros, long idleMillis) {
    if (!(completeness > 0 && completeness < 1)) {
      throw new IllegalArgumentException("The completeness is not between 0 and 1: " + completeness + ".");
    }
    if (atMostMicros <= 0) {
      throw new IllegalArgumentException("The longest lag is not positive: " + atMostMicros + " µs.");
    }
    this.completeness = completeness;
    this.atMostMicros = atMostMicros;
    partitions = new Partitions(idleMillis);
    rare = 1 / (1 - completeness);
    warm = Math.round(WARM * rare);
    lag = atMostMicros;
  }

  @Override
  public void learn(List<Lateness> seen) {
    long taken = seen.stream().mapToLong(Lateness::rows).sum();
    if (taken == 0) {
      return;
    }
    rows += taken;
    long newest = seen.stream().mapToLong(Lateness::max).max().orElse(at);
    double passed = at == EpochWatermarks.NONE ? 0 : Math.max(0, (double) newest - at);
    at = Math.max(at, newest);
    double kept = Math.exp(-Math.min(taken / (SLOW * rare), passed / SHORTEST_MICROS));
    slow.fade(kept);
    fast.fade(Math.exp(-taken / (FAST * rare)));
    recentRows *= kept;
    recentBehind *= kept;
    spent *= kept;
    for (Lateness part : seen) {
      slow.add(part);
      fast.add(part);
      behind += part.behind();
      recentRows += part.rows();
      recentBehind += part.behind();
    }
    // The longest lag leaves next to nothing behind, which says nothing about the learned one.
    spent += rows - taken < warm ? taken / rare : seen.stream().mapToLong(Lateness::behind).sum();
    slow.cap(atMostMicros);
    fast.cap(atMostMicros);
    decide();
  }

  private void decide() {
    if (rows < warm) {
      lag = atMostMicros;
      return;
    }
    // At its loosest it is the median, however much may be left behind.
    double loosest = Math.max(1 / STRICTEST, Math.min(1, 2 * (1 - completeness)));
    double strictness = Math.max(loosest, Math.min(STRICTEST, spent * rare / recentRows));
    long longest = slow.quantile(1 - (1 - completeness) / strictness);
    // Where the quantile is looser, more rows are beyond it without being news.
    double usual = Math.max(1, 1 / strictness);
    if (fast.beyond(longest) * rare > usual + NEWS * Math.sqrt(usual / FAST)) {
      longest = Math.max(longest, fast.quantile(1 - (1 - completeness) / STRICTEST));
    }
    lag = Math.min(atMostMicros, longest);
  }

  /** What W is behind the highest event time of a partition now, in microseconds. */
  public long lag() {
    return lag;
  }

  @Override
  public void observe(int partition, long maxMicros) {
    partitions.observe(partition, maxMicros);
  }

  @Override
  public void poll(long millis, Map<Integer, Position> positions) {
    partitions.poll(millis, positions);
  }

  @Override
  public void atLeast(long least) {
    partitions.atLeast(least);
  }

  @Override
  public long watermark() {
    return partitions.watermark(lag);
  }

  @Override
  public Map<Integer, Standing> standings() {
    return partitions.standings();
  }

  @Override
  public ObjectNode state() {
    return JsonNodeFactory.instance.objectNode()
        .put("kind", KIND)
        .put("version", 1)
        .put("rows", rows)
        .put("behind", behind)
        .put("recentRows", recentRows)
        .put("recentBehind", recentBehind)
        .put("spent", spent)
        .put("at", at)
        .put("slow", slow.write())
        .put("fast", fast.write());
  }

  @Override
  public void restore(JsonNode state) {
    boolean mine = state != null && KIND.equals(state.path("kind").asText());
    if (mine && state.path("version").asInt() != 1) {
      throw new IllegalStateException(
          "What the adaptive watermark learned is in the checkpoint as version " + state.path("version")
              + ", and this kernel knows version 1.");
    }
    rows = mine ? state.path("rows").asLong() : 0;
    behind = mine ? state.path("behind").asLong() : 0;
    recentRows = mine ? state.path("recentRows").asDouble() : 0;
    recentBehind = mine ? state.path("recentBehind").asDouble() : 0;
    spent = mine ? state.path("spent").asDouble() : 0;
    at = mine ? state.path("at").asLong() : EpochWatermarks.NONE;
    slow = mine ? Sketch.read(state.path("slow").asText()) : new Sketch();
    fast = mine ? Sketch.read(state.path("fast").asText()) : new Sketch();
    decide();
  }

  @Override
  public void describe(ObjectNode status) {
    status.put("lag", lag).put("learning", rows < warm).put("rows", rows).put("behind", behind);
    if (recentRows > 0) {
      status.put("completeness", 1 - recentBehind / recentRows);
    }
  }
}
