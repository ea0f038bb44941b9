package headrace.remote;

import headrace.postgres.Passing;
import headrace.remote.RemoteException.Kind;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.StringType;

/**
 * A table in a PostgreSQL: asked for many keys by one query, by so many queries at a time as are allowed and no more.
 *
 * <p>A server that cannot be reached, or ends the connection, is tried again for a while; whatever else it answers is final.
 */
public final class Postgres implements Asked, AutoCloseable {
  private static final String DRIVER = "org.postgresql.Driver";
  private static final long FIRST_PAUSE_MILLIS = 50;
  private static final long LONGEST_PAUSE_MILLIS = 5_000;
  /** The driver's word where it has no password, or not the encryption that is wanted. */
  private static final String REJECTED = "08004";
  /** A query that has reached statement_timeout, or that somebody on the server has cancelled. */
  private static final String CANCELLED = "57014";
  private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private final RemoteTable table;
  private final Semaphore permits;
  private final ConcurrentLinkedDeque<Open> idle = new ConcurrentLinkedDeque<>();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger mostRunning = new AtomicInteger();
  private final LongAdder queries = new LongAdder();
  private final LongAdder retries = new LongAdder();
  private volatile boolean closed;

  /** A connection, and the query as this server's column wants it. */
  private record Open(Connection connection, String sql, boolean ofUuids) {}

  public Postgres(RemoteTable table) {
    this.table = table;
    permits = new Semaphore(table.queries(), true);
  }

  /** How many queries there were. */
  public long queries() {
    return queries.sum();
  }

  /** How many ran at a time at most; only tests ask. */
  public int mostRunning() {
    return mostRunning.get();
  }

  /** How often a server that could not be reached was tried again. */
  public long retries() {
    return retries.sum();
  }

  @Override
  public Map<Object, Answer> ask(Collection<Object> keys) {
    long since = System.nanoTime();
    for (long pause = FIRST_PAUSE_MILLIS;; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS)) {
      try {
        return once(keys);
      } catch (SQLException failure) {
        if (!passes(failure)) {
          throw refused(table, failure);
        }
        long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
        if (waited + pause > table.retryMillis()) {
          throw unreachable(table, failure, waited);
        }
      }
      retries.increment();
      try {
        Thread.sleep(pause);
      } catch (InterruptedException killed) {
        throw interrupted(killed);
      }
    }
  }

  private Map<Object, Answer> once(Collection<Object> keys) throws SQLException {
    try {
      permits.acquire();
    } catch (InterruptedException killed) {
      throw interrupted(killed);
    }
    Open open = null;
    boolean sound = false;
    try {
      mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
      open = idle.poll();
      open = open == null ? open() : open;
      Map<Object, Answer> found = query(open, keys);
      sound = true;
      return found;
    } finally {
      running.decrementAndGet();
      if (open != null) {
        giveBack(open, sound);
      }
      permits.release();
    }
  }

  private void giveBack(Open open, boolean sound) {
    if (sound && !closed) {
      idle.push(open);
      if (closed) {
        // Between the look and the push: whoever closed has not seen it.
        closeIdle();
      }
      return;
    }
    closeQuietly(open.connection);
    if (!sound) {
      // Of one server: when it has gone, it is gone for all.
      closeIdle();
    }
  }

  private Open open() throws SQLException {
    Connection connection = connect(table);
    try {
      boolean uuids = PostgresCheck.typeOf(connection, table, table.key()).equals("uuid");
      return new Open(connection, sql(table, uuids), uuids);
    } catch (SQLException | RuntimeException failure) {
      closeQuietly(connection);
      throw failure;
    }
  }

  private Map<Object, Answer> query(Open open, Collection<Object> keys) throws SQLException {
    Map<Object, Answer> found = new HashMap<>(2 * keys.size());
    List<Object> sent = keys.stream().filter(key -> canBeThere(key, open.ofUuids)).toList();
    if (sent.isEmpty()) {
      return found;
    }
    queries.increment();
    boolean texts = table.keyType() instanceof StringType;
    RowReader reader = new RowReader(table);
    try (PreparedStatement statement = open.connection.prepareStatement(open.sql)) {
      statement.setArray(1, open.connection.createArrayOf(texts ? "text" : "int8", sent.toArray()));
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          Object key = texts ? rows.getString(1) : (Object) rows.getLong(1);
          if (found.put(key, reader.read(rows)) != null) {
            throw new RemoteException(Kind.RUNNING, table, "has several rows of one " + table.key(),
                "look up by a column that tells rows apart, or by a view that has one row of each", null);
          }
        }
      }
    }
    return found;
  }

  /** Whether the server could have a row of such a key; for others it would refuse the whole query. */
  private static boolean canBeThere(Object key, boolean uuids) {
    return !(key instanceof String text) || (uuids ? UUID.matcher(text).matches() : text.indexOf('\0') < 0);
  }

  static String sql(RemoteTable table, boolean uuids) {
    UnaryOperator<String> quoted = RemoteTable::quoted;
    List<String> columns = new ArrayList<>();
    boolean texts = table.keyType() instanceof StringType;
    columns.add(quoted.apply(table.key()) + (texts ? "::text" : "::bigint"));
    for (var field : table.row().fields()) {
      columns.add(quoted.apply(field.name()) + cast(field.dataType()));
    }
    String type = uuids ? "uuid[]" : texts ? "text[]" : "bigint[]";
    return "SELECT " + String.join(", ", columns) + " FROM " + table.name() + " WHERE " + quoted.apply(table.key()) + " = ANY (?::" + type + ")";
  }

  private static String cast(DataType type) {
    if (type instanceof StringType) {
      // Whatever it is there: numbers of another system, an enum, a uuid.
      return "::text";
    }
    // A real of 1.1 is not 1.1. The driver gets it as text first, as binary once it has prepared the query, and makes two numbers of it.
    return type instanceof DoubleType ? "::float8" : "";
  }

  static Connection connect(RemoteTable table) throws SQLException {
    Properties properties = new Properties();
    properties.putAll(table.options());
    Driver driver;
    try {
      driver = (Driver) Class.forName(DRIVER, true, Thread.currentThread().getContextClassLoader()).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException missing) {
      throw new RemoteException(Kind.SET, table, "needs PostgreSQL's driver, which is not on Spark's class path",
          "add org.postgresql:postgresql to spark.jars", missing);
    }
    Connection connection = driver.connect(table.url(), properties);
    if (connection == null) {
      throw new IllegalStateException("the driver does not know the address of " + table.told());
    }
    return connection;
  }

  static boolean passes(SQLException failure) {
    return Passing.is(failure);
  }

  private static RemoteException unreachable(RemoteTable table, SQLException failure, long waited) {
    String seconds = String.format(Locale.ROOT, "%.1f", waited / 1_000.0);
    return new RemoteException(Kind.RUNNING, table, "could not be asked for " + seconds + " s: " + words(failure),
        "see that the server runs and can be reached; the epoch is repeated by the next run, nothing is lost", failure);
  }

  static RemoteException unreachable(RemoteTable table, SQLException failure) {
    return new RemoteException(Kind.RUNNING, table, "cannot be reached: " + words(failure),
        "see that the server runs, and that its address is right", failure);
  }

  /** What the server says, in the words for people. */
  static RemoteException refused(RemoteTable table, SQLException failure) {
    String state = failure.getSQLState() == null ? "" : failure.getSQLState();
    if (state.startsWith("28") || state.equals("42501") || state.equals(REJECTED)) {
      return new RemoteException(Kind.SET, table, "is refused: " + words(failure),
          "see to the user, its password (in $PGPASSWORD, or as ${NAME} in the address) and what it may read", failure);
    }
    if (state.equals(CANCELLED)) {
      return new RemoteException(Kind.RUNNING, table, "takes too long: " + words(failure),
          "is there an index on " + table.key() + "? Else ask for fewer keys at a time (batch=)", failure);
    }
    if (state.equals("3D000")) {
      return new RemoteException(Kind.DECLARED, table, "is not there: " + words(failure), "correct the address", failure);
    }
    return new RemoteException(Kind.RUNNING, table, "failed: " + words(failure), "see what the server says", failure);
  }

  private static String words(SQLException failure) {
    String message = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
    return message.replaceFirst("^(ERROR|FATAL): ", "");
  }

  private IllegalStateException interrupted(InterruptedException killed) {
    Thread.currentThread().interrupt();
    return new IllegalStateException(table.told() + " was interrupted", killed);
  }

  @Override
  public void close() {
    closed = true;
    closeIdle();
  }

  private void closeIdle() {
    for (Open open = idle.poll(); open != null; open = idle.poll()) {
      closeQuietly(open.connection);
    }
  }

  static void closeQuietly(Connection connection) {
    try {
      connection.close();
    } catch (SQLException gone) {
      // It was to be closed, and is: the server may have been first.
      return;
    }
  }
}
