package headrace.clock;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.clock.policy.ByHand;
import headrace.clock.policy.Lateness;
import headrace.clock.policy.Learning;
import headrace.clock.policy.Policy;
import headrace.clock.policy.Position;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.classic.SparkSession;

/**
 * The clock of one running query: W of every source, from the maxima of the tasks and the standing of the
 * partitions.
 *
 * <p>Its offset is in Spark's log before an epoch runs, so a replayed epoch sees the same W. Lives on the
 * driver, one per query, found by the query's id.
 */
public final class Clock {
  private static final Map<String, Clock> RUNNING = new ConcurrentHashMap<>();

  private final String query;
  private final ClockSpec spec;
  private final Maxima maxima = new Maxima();
  private final SparkContext spark;
  private final ClockLog log;
  private final Map<String, Policy> policies = new LinkedHashMap<>();
  private final Map<String, Map<Integer, Position>> positions = new TreeMap<>();
  private final Map<String, Feed> feeds = new ConcurrentHashMap<>();
  private final Map<String, Integer> askedFrozen = new ConcurrentHashMap<>();
  private Map<String, Map<Integer, Long>> restored = new TreeMap<>();
  private Map<String, Map<Integer, Long>> saved = new TreeMap<>();
  private final Map<String, Map<Integer, Long>> told = new TreeMap<>();
  /** In a bounded run: when its last rows had been processed. */
  private Long overMillis;
  /** The sources that are held back for slower ones. */
  private final Set<String> waiting = new TreeSet<>();
  private ClockOffset now;
  private boolean draining;
  private boolean nudged;
  /** Whether a source waited for a table that had not been asked yet. */
  private volatile boolean unheard;
  private final Set<String> tablesRead = ConcurrentHashMap.newKeySet();
  private volatile Long handMillis;
  private final Gate gate = new Gate();
  private boolean tickAsked;

  private Clock(String query, ClockSpec spec) {
    this.query = query;
    this.spec = spec;
    this.draining = spec.drain();
    SparkSession session = SparkSession.active();
    this.spark = session.sparkContext();
    this.log = log(spec.checkpoint(), session);
    for (ClockSpec.Source source : spec.sources()) {
      policies.put(source.name(), source.policy());
    }
    now = ClockOffset.initial(policies.keySet());
    spark.register(maxima, "headrace.maxima");
  }

  /** Makes the clock of a query, and forgets an earlier one of the same id. */
  public static Clock create(String queryId, String specJson) {
    Clock clock = new Clock(queryId, ClockSpec.parse(specJson));
    RUNNING.put(queryId, clock);
    return clock;
  }

  /** The clock of a query. */
  public static Clock of(String queryId) {
    Clock clock = RUNNING.get(queryId);
    if (clock == null) {
      throw new IllegalStateException("The query " + queryId + " has no clock; Clock.create comes before its sources.");
    }
    return clock;
  }

  /** Forgets the clock of a query that ended. */
  public static void close(String queryId) {
    RUNNING.remove(queryId);
  }

  /** Whether a checkpoint was drained: its last logged W is the end of time, so it can take no more events. */
  public static boolean drained(String checkpoint) {
    ClockOffset last = log(checkpoint, SparkSession.active()).lastLogged();
    return last != null
        && !last.watermarks.isEmpty()
        && last.watermarks.values().stream().allMatch(w -> w == EpochWatermarks.END);
  }

  private static ClockLog log(String checkpoint, SparkSession session) {
    return new ClockLog(
        checkpoint, session.sessionState().newHadoopConf(), session.sessionState().conf().minBatchesToRetain());
  }

  /** Where the tasks of this query leave the event times they saw. */
  public Maxima maxima() {
    return maxima;
  }

  /** Moves the watermark of a source by hand; only where its policy is "manual". */
  public synchronized void advance(String source, long watermark) {
    Policy policy = policy(source);
    if (!(policy instanceof ByHand)) {
      throw new IllegalStateException(
          "The watermark of " + source + " follows from its events; only that of a \"manual\" policy is moved by hand.");
    }
    policy.atLeast(watermark);
  }

  /** From now on the wall clock shows this and stands still until it is set again. */
  public void wallClock(long millis) {
    handMillis = millis;
  }

  /** Wall clock in milliseconds. */
  public long millis() {
    Long hand = handMillis;
    return hand == null ? System.currentTimeMillis() : hand;
  }

  /** From now on there is no news: the running epoch is the last one of this run. */
  public void freeze() {
    gate.freeze();
  }

  /** Whether a source that is asked for news has none to tell: answered once for all sources of a round. */
  public boolean frozen(Object source) {
    return gate.shut(source);
  }

  /** From now on epochs begin only when they are released, for tests. Before the query starts. */
  public void hold() {
    gate.hold();
  }

  /** Lets one epoch begin, with all that is news by then; with a tick though no W moved, if that is asked. */
  public void release(boolean tick) {
    synchronized (this) {
      tickAsked = tick;
    }
    gate.release();
  }

  /** Waits until the released epoch is over, for so long at most; tells whether it is. */
  public boolean settled(long millis) throws InterruptedException {
    return gate.settled(millis);
  }

  /** A frozen source was asked for news. */
  public void askedFrozen(String source) {
    askedFrozen.merge(source, 1, Integer::sum);
  }

  /**
   * Whether no epoch of this run is at work or to come. Spark asks every source once a trigger: one that was
   * asked twice since the freeze was asked in a trigger after that in which the last epoch could still begin.
   */
  public boolean quiet() {
    return askedFrozen.values().stream().anyMatch(times -> times >= 2);
  }

  /** A bounded run ends with every window closed. Before the query starts. */
  public synchronized void drain() {
    draining = true;
  }

  /**
   * The end of an epoch's work, before Spark commits it: keeps what the next W follows from. Called as the
   * last thing in foreachBatch, also for an epoch that is replayed.
   */
  public synchronized void epochEnded(long epoch) {
    feeds.values().forEach(Feed::epochEnded);
    // Also where nobody's W follows from it: what is not taken piles up.
    boolean learned = learn(epoch);
    if (spec.programs().isEmpty()) {
      return;
    }
    Map<String, Map<Integer, Long>> current = currentMaxima();
    if (learned || !current.equals(saved)) {
      Map<String, JsonNode> states = new TreeMap<>();
      learning().forEach((source, policy) -> states.put(source, policy.state()));
      log.write(epoch, new ClockLog.Left(current, states));
      saved = current;
    }
  }

  private boolean learn(long epoch) {
    Map<Integer, List<Lateness>> seen = maxima.take(epoch);
    boolean any = false;
    for (ClockSpec.Source source : spec.sources()) {
      if (seen.containsKey(source.index()) && policies.get(source.name()) instanceof Learning policy) {
        policy.learn(seen.get(source.index()));
        any = true;
      }
    }
    return any;
  }

  private Map<String, Learning> learning() {
    Map<String, Learning> learning = new TreeMap<>();
    policies.forEach((source, policy) -> {
      if (policy instanceof Learning one) {
        learning.put(source, one);
      }
    });
    return learning;
  }

  // ------------------------------------------------------------------ the sources

  /** A source begins to be read. */
  public void attach(String source, Feed feed) {
    policy(source);
    feeds.put(source, feed);
  }

  /** What a look at a source at {@code millis} found, for all its partitions. */
  public synchronized void report(String source, long millis, Map<Integer, Position> seen) {
    policy(source).poll(millis, seen);
    positions.computeIfAbsent(source, s -> new TreeMap<>()).putAll(seen);
  }

  /**
   * Whether a source must take no rows for now: it is joined with a table that is still being read, or so far ahead of another source. All are looked at
   * first: what was seen before the last epoch would hold a source back for one that has caught up since, and
   * in a bounded run an epoch that nobody has rows for is the end.
   */
  public boolean held(String source) {
    if (spec.programs().stream().anyMatch(program -> program.first().contains(source))) {
      // Others wait for it; it must not wait for them.
      return false;
    }
    if (waitsForTables(source)) {
      synchronized (this) {
        waiting.add(source);
      }
      return true;
    }
    Set<String> together = spec.align() > 0 ? spec.together(source) : Set.of();
    if (together.size() < 2) {
      synchronized (this) {
        waiting.remove(source);
      }
      return false;
    }
    tell();
    feeds.values().forEach(Feed::poll);
    synchronized (this) {
      Map<String, Alignment.Progress> progress = new TreeMap<>();
      Map<String, Map<Integer, Long>> seen = currentMaxima();
      for (String name : together) {
        long[] unread = positions.getOrDefault(name, Map.of()).entrySet().stream()
            .filter(one -> one.getValue().backlog() > 0)
            .mapToLong(one -> seen.getOrDefault(name, Map.of()).getOrDefault(one.getKey(), EpochWatermarks.NONE))
            .filter(time -> time != EpochWatermarks.NONE)
            .toArray();
        Feed feed = feeds.get(name);
        progress.put(
            name,
            new Alignment.Progress(
                Arrays.stream(unread).min().orElse(EpochWatermarks.NONE), feed != null && feed.behind()));
      }
      boolean held = Alignment.held(source, progress, together, spec.align());
      if (held) {
        waiting.add(source);
      } else {
        waiting.remove(source);
      }
      return held;
    }
  }

  /**
   * Whether a table is still being read that is to be read first. Once its next epoch takes all that is left of it, that epoch may have
   * rows of others, too: in an epoch a table comes before what is joined with it. From then on nobody waits for it in this run.
   */
  private boolean waitsForTables(String source) {
    boolean waits = false;
    for (String table : toRead(source)) {
      Feed feed = feeds.get(table);
      if (feed == null || !feed.started()) {
        unheard = true;
        waits = true;
        continue;
      }
      feed.poll();
      if (feed.behind()) {
        waits = true;
      } else {
        tablesRead.add(table);
      }
    }
    return waits;
  }

  /** By hand everything that was fed is read at once. */
  private Set<String> toRead(String source) {
    Set<String> tables = new TreeSet<>(spec.before(source));
    tables.removeIf(table -> tablesRead.contains(table) || policies.get(table) instanceof ByHand);
    return tables;
  }

  /** Rows of a source that are there and have not been processed, as of the last look. */
  public synchronized long backlog(String source) {
    policy(source);
    return positions.getOrDefault(source, Map.of()).values().stream().mapToLong(Position::backlog).sum();
  }

  /** For people: watermarks, tick, and per partition its standing, maximum and backlog, as JSON. */
  public synchronized String status() {
    ObjectNode root = ClockSpec.JSON.createObjectNode();
    root.put("query", query).put("tick", now.tick);
    ObjectNode sources = root.putObject("sources");
    Map<String, Map<Integer, Long>> seen = currentMaxima();
    policies.forEach((name, policy) -> {
      ObjectNode source = sources.putObject(name);
      long watermark = now.watermarks.getOrDefault(name, EpochWatermarks.NONE);
      if (watermark == EpochWatermarks.NONE) {
        source.putNull("watermark");
      } else {
        source.put("watermark", watermark);
      }
      source.put("backlog", backlog(name)).put("held", waiting.contains(name));
      if (policy instanceof Learning learning) {
        learning.describe(source);
      }
      ObjectNode partitions = source.putObject("partitions");
      policy.standings().forEach((number, standing) -> {
        ObjectNode partition = partitions.putObject(number.toString());
        partition.put("standing", standing.name().toLowerCase(java.util.Locale.ROOT));
        Long max = seen.getOrDefault(name, Map.of()).get(number);
        if (max != null) {
          partition.put("max", max);
        }
        Position position = positions.getOrDefault(name, Map.of()).get(number);
        if (position != null) {
          partition.put("processed", position.processed()).put("end", position.end());
        }
      });
    });
    return root.toString();
  }

  // ------------------------------------------------------------------ the clock source, on the stream's thread

  /** The query (re)starts: takes up W and maxima from the checkpoint, and has them in place for a replay. */
  synchronized void start() {
    maxima.reset();
    told.clear();
    ClockLog.Left left = log.lastCommitted();
    restored = left.maxima();
    saved = restored;
    learning().forEach((source, policy) -> policy.restore(left.learned().get(source)));
    nudged = false;
    unheard = false;
    tablesRead.clear();
    overMillis = null;
    ClockOffset logged = log.lastLogged();
    take(logged == null ? ClockOffset.initial(policies.keySet()) : logged);
    publish(now, now);
  }

  List<ClockSpec.Program> programs() {
    return spec.programs();
  }

  ClockOffset initial() {
    return ClockOffset.initial(policies.keySet());
  }

  synchronized ClockOffset current() {
    return now;
  }

  /** The offset as of now; the same one as long as no W moved. */
  ClockOffset next(ClockOffset start, boolean bounded) {
    // Before the sources are looked at: silence begins with the look that finds nothing more.
    tell();
    // Not under the lock: a source may have to ask its broker.
    feeds.values().forEach(Feed::poll);
    synchronized (this) {
      if (start.tick > now.tick) {
        take(start);
      }
      boolean over = bounded && feeds.values().stream().allMatch(feed -> feed.started() && feed.exhausted());
      if (over && overMillis == null) {
        overMillis = millis();
      }
      // For what follows the wall clock there would always be one more epoch, and no end to a bounded run.
      long millis = over ? overMillis : millis();
      SortedMap<String, Long> watermarks = watermarks(millis, over && draining);
      SortedMap<Integer, Long> programs = programs(watermarks, free(), now.programs, spec.programs());
      boolean moved = !watermarks.equals(now.watermarks) || !programs.equals(now.programs);
      if (moved || momentPassed(millis) || mustNudge(bounded) || tickAsked) {
        tickAsked = false;
        now = new ClockOffset(watermarks, programs, Math.max(millis, now.tick + 1));
      }
      publish(start, now);
      return now;
    }
  }

  /** Whether the wall clock passed a multiple of an interval that some program waits for. The first tick is none. */
  private boolean momentPassed(long millis) {
    for (ClockSpec.Program program : spec.programs()) {
      for (long micros : program.moments()) {
        if (now.tick > 0 && Math.floorDiv(millis * 1000, micros) > Math.floorDiv(now.tick * 1000, micros)) {
          return true;
        }
      }
    }
    return false;
  }

  /** At the end rows of the last epoch are processed and no further ones come: nothing can be late any more. */
  private SortedMap<String, Long> watermarks(long millis, boolean end) {
    SortedMap<String, Long> watermarks = new TreeMap<>();
    policies.forEach((source, policy) -> {
      policy.tick(millis);
      watermarks.put(source, end ? EpochWatermarks.END : policy.watermark());
    });
    return watermarks;
  }

  /** Tells the policies what was heard since they were told last; the first time also what was restored. */
  private synchronized void tell() {
    Map<Integer, Map<Integer, Long>> reports = maxima.reports();
    Map<String, Map<Integer, Long>> seen = currentMaxima();
    for (ClockSpec.Source source : spec.sources()) {
      Map<Integer, Long> now = reports.getOrDefault(source.index(), Map.of());
      Map<Integer, Long> before = told.computeIfAbsent(source.name(), s -> new TreeMap<>());
      seen.getOrDefault(source.name(), Map.of()).forEach((partition, time) -> {
        Long count = now.getOrDefault(partition, 0L);
        if (!count.equals(before.put(partition, count))) {
          policies.get(source.name()).observe(partition, time);
        }
      });
    }
  }

  /**
   * In a bounded run Spark stops at the first trigger without news. Where it asks the clock before the
   * sources (with five or more its order is arbitrary), they do not know yet where they are and W cannot
   * move: one epoch for nothing gives them the time. So it does where a source waits for a table of which nobody has heard yet.
   */
  private boolean mustNudge(boolean bounded) {
    boolean wanted = bounded || unheard || feeds.keySet().stream().anyMatch(source -> !toRead(source).isEmpty());
    boolean must = wanted && !nudged && (unheard || !feeds.values().stream().allMatch(Feed::started));
    nudged |= must;
    return must;
  }

  private void take(ClockOffset logged) {
    SortedMap<String, Long> watermarks = new TreeMap<>(ClockOffset.initial(policies.keySet()).watermarks);
    logged.watermarks.forEach((source, watermark) -> {
      if (policies.containsKey(source)) {
        watermarks.put(source, watermark);
        policies.get(source).atLeast(watermark);
      }
    });
    now = new ClockOffset(watermarks, logged.programs, logged.tick);
  }

  /**
   * Every job that this thread starts from here on runs under these watermarks.
   *
   * <p>The rows of the first layer are judged by W at the end of the epoch's offsets. Those of later layers come from steps that gave them
   * before time went on, and are judged by W at its start.
   */
  void publish(ClockOffset start, ClockOffset end) {
    Map<Integer, Long> byProgram = new TreeMap<>();
    for (ClockSpec.Program program : spec.programs()) {
      byProgram.put(program.id(), watermark(program.layer() == 0 ? end : start, program));
    }
    spark.setLocalProperty(EpochWatermarks.PROPERTY, EpochWatermarks.format(byProgram));
    spark.setLocalProperty(EpochTick.PROPERTY, EpochTick.format(start.tick));
    SortedMap<Integer, EpochMaxima.Source> learning = new TreeMap<>();
    for (ClockSpec.Source source : spec.sources()) {
      if (policies.get(source.name()) instanceof Learning) {
        long watermark = end.watermarks.getOrDefault(source.name(), EpochWatermarks.NONE);
        // As the last epoch left them in the checkpoint: a replay must measure against the same.
        learning.put(
            source.index(), new EpochMaxima.Source(watermark, saved.getOrDefault(source.name(), Map.of())));
      }
    }
    spark.setLocalProperty(EpochMaxima.PROPERTY, EpochMaxima.format(learning));
  }

  /** W of a program in the epoch that ends at an offset. */
  static long watermark(ClockOffset offset, ClockSpec.Program program) {
    return offset.programs.getOrDefault(program.id(), EpochWatermarks.NONE);
  }

  /**
   * The tables that hold nothing up: they are read to their ends, as of the last look. By hand, those whose watermark nobody has moved.
   */
  private Set<String> free() {
    Set<String> free = new TreeSet<>();
    for (ClockSpec.Source source : spec.sources()) {
      Map<Integer, Position> seen = positions.getOrDefault(source.name(), Map.of());
      Policy policy = policies.get(source.name());
      boolean read = policy instanceof ByHand ? policy.watermark() == EpochWatermarks.NONE
          : !seen.isEmpty() && seen.values().stream().allMatch(Position::caughtUp);
      if (source.table() && read) {
        free.add(source.name());
      }
    }
    return free;
  }

  /**
   * W of the programs: the least of the sources upstream that hold it, and where that is behind, what it was before. Where none holds it,
   * time is where the one is that has come furthest.
   */
  static SortedMap<Integer, Long> programs(
      Map<String, Long> watermarks, Set<String> free, Map<Integer, Long> before, List<ClockSpec.Program> programs) {
    SortedMap<Integer, Long> byProgram = new TreeMap<>();
    for (ClockSpec.Program program : programs) {
      boolean all = free.containsAll(program.sources());
      LongStream times = program.sources().stream()
          .filter(source -> all || !free.contains(source))
          .mapToLong(source -> watermarks.getOrDefault(source, EpochWatermarks.NONE));
      long reached = (all ? times.max() : times.min()).orElse(EpochWatermarks.NONE);
      // Behind is a source that joined an older step: what that has closed stays closed.
      byProgram.put(program.id(), Math.max(reached, before.getOrDefault(program.id(), EpochWatermarks.NONE)));
    }
    return byProgram;
  }

  private Map<String, Map<Integer, Long>> currentMaxima() {
    Map<String, Map<Integer, Long>> current = new TreeMap<>();
    Map<Integer, Map<Integer, Long>> fresh = maxima.value();
    for (ClockSpec.Source source : spec.sources()) {
      Map<Integer, Long> partitions = new TreeMap<>(restored.getOrDefault(source.name(), Map.of()));
      fresh.getOrDefault(source.index(), Map.of()).forEach((partition, time) -> partitions.merge(partition, time, Math::max));
      if (!partitions.isEmpty()) {
        current.put(source.name(), partitions);
      }
    }
    return current;
  }

  private Policy policy(String source) {
    Policy policy = policies.get(source);
    if (policy == null) {
      throw new IllegalArgumentException("The clock of " + query + " has no source named " + source + ".");
    }
    return policy;
  }
}
