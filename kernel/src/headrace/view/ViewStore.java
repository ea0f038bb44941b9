package headrace.view;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.deliver.DeliveryException;
import headrace.deliver.Marker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The views of one pipeline in a database: a table a view, and which epoch they are of.
 *
 * <p>All changes of an epoch and its number are one transaction, so a reader sees every epoch whole or not at all, and a replayed one is
 * known. What changed is kept for a while, for those who follow a view.
 *
 * <p>A server that goes away is waited for. What became of a commit that was under way then is told by the epoch that is there.
 */
public final class ViewStore implements AutoCloseable {
  /** The changes that are kept for followers; who is further behind reads the view anew. */
  private static final long KEPT_CHANGES = 100_000;

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long PAUSE_MILLIS = 100;
  private static final ObjectMapper MAPPER = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final ObjectReader JSON = MAPPER.reader();

  private final ViewSpec spec;
  private final Dialect dialect;
  private final Duration patience;
  private final long kept;

  /** Null after it broke, until the next transaction. */
  private Connection connection;

  /** Said before the connection is free: who waits for a server does not wait on, and nobody connects anew. */
  private volatile boolean closed;

  /** A piece of work that is done whole or not at all, and may be done again. */
  private interface Work<T> {
    T on(Connection connection) throws SQLException, IOException;
  }

  public ViewStore(ViewSpec spec) {
    this(spec, PATIENCE, KEPT_CHANGES);
  }

  /**
   * A store for tests of what takes long.
   *
   * @param patience how long a server may be away
   * @param kept how many changes are kept
   */
  ViewStore(ViewSpec spec, Duration patience, long kept) {
    this.spec = spec;
    this.dialect = spec.connection().isEmpty() ? new SqliteDialect(spec.place()) : new PostgresDialect(spec);
    this.patience = patience;
    this.kept = kept;
    try {
      connection = dialect.open();
    } catch (SQLException failure) {
      throw failed("cannot be opened", failure);
    }
  }

  public ViewSpec spec() {
    return spec;
  }

  /** Whose views these are, and up to which epoch; null when nobody's yet. */
  public Marker marker() {
    return inTransaction("cannot be read", open -> marker(open, ""));
  }

  private Marker marker(Connection open, String more) throws SQLException {
    try (PreparedStatement statement = open.prepareStatement("SELECT checkpoint, epoch FROM headrace_history WHERE pipeline = ?" + more)) {
      statement.setString(1, spec.pipeline());
      try (ResultSet found = statement.executeQuery()) {
        return found.next() ? new Marker(found.getString(1), found.getLong(2)) : null;
      }
    }
  }

  /** Makes the tables that are missing, adds columns that are new, and gives the store to the spec's history. */
  public void adopt() {
    inTransaction("cannot be prepared", open -> {
      Marker marker = marker(open, dialect.forUpdate());
      if (marker == null || !marker.checkpoint().equals(spec.checkpoint())) {
        mark(open, Marker.BEFORE_ALL);
      }
      for (View view : spec.views()) {
        adopt(open, view);
      }
      return null;
    });
  }

  /** Empties the store: a new history begins with nothing in its views. */
  public void clear() {
    inTransaction("cannot be emptied", open -> {
      marker(open, dialect.forUpdate());
      try (Statement statement = open.createStatement()) {
        List<String> names = new ArrayList<>();
        try (ResultSet found = statement.executeQuery("SELECT name FROM headrace_views")) {
          while (found.next()) {
            names.add(found.getString(1));
          }
        }
        for (String name : names) {
          statement.execute("DROP TABLE IF EXISTS " + Dialect.quoted(name));
        }
        statement.execute("DELETE FROM headrace_views");
        statement.execute("DELETE FROM headrace_changes");
        statement.execute("DELETE FROM headrace_history");
      }
      return null;
    });
  }

  /**
   * Commits an epoch's changes, unless that has been done before.
   *
   * @return whether it was done now
   */
  public boolean apply(long epoch, List<Change> changes) {
    return inTransaction("cannot take epoch " + epoch, open -> {
      Marker marker = marker(open, dialect.forUpdate());
      if (marker == null || !marker.checkpoint().equals(spec.checkpoint())) {
        throw new DeliveryException("the views in " + spec.place() + " belong to another history now", "stop whoever else writes there");
      }
      if (marker.epoch() >= epoch) {
        return false;
      }
      long before = dialect.lastChange(open);
      long number = before;
      for (View view : spec.views()) {
        number = apply(open, view, epoch, number, changes.stream().filter(change -> change.ordinal() == view.ordinal()).toList());
      }
      if (number > before) {
        try (Statement statement = open.createStatement()) {
          statement.execute("DELETE FROM headrace_changes WHERE number <= " + (number - kept));
        }
        dialect.changed(open, number);
      }
      mark(open, epoch);
      return true;
    });
  }

  /** Writes what became of a view's rows, and tells it under numbers from the given one on; returns the last. */
  private long apply(Connection open, View view, long epoch, long before, List<Change> changes) throws SQLException, IOException {
    if (changes.isEmpty()) {
      return before;
    }
    // A row that was changed is told as one that goes and one that comes, in any order: what comes counts.
    Map<String, Change> last = new LinkedHashMap<>();
    for (Change change : changes) {
      last.merge(text(change.key()), change, (earlier, next) -> next.value() == null ? earlier : next);
    }
    long number = before;
    try (ViewTable table = new ViewTable(open, dialect, view);
        PreparedStatement tell = open.prepareStatement("INSERT INTO headrace_changes (number, epoch, view, \"key\", value) VALUES (?, ?, ?, ?, ?)")) {
      tell.setLong(2, epoch);
      tell.setString(3, view.name());
      for (Map.Entry<String, Change> change : last.entrySet()) {
        byte[] value = change.getValue().value();
        JsonNode key = JSON.readTree(change.getKey());
        // To an index of SQLite's one null is not another: it would keep both rows.
        if (value == null || view.key().isEmpty() || view.key().stream().anyMatch(column -> key.path(column).isNull())) {
          table.delete(key);
        }
        if (value != null) {
          table.put(JSON.readTree(value));
        }
        tell.setLong(1, ++number);
        tell.setString(4, change.getKey());
        tell.setString(5, value == null ? null : text(value));
        tell.addBatch();
      }
      table.flush();
      tell.executeBatch();
    }
    return number;
  }

  private void adopt(Connection open, View view) throws SQLException {
    String key = MAPPER.valueToTree(view.key()).toString();
    ObjectNode columns = MAPPER.createObjectNode();
    view.columns().forEach(column -> columns.put(column.name(), column.kind().name()));
    try (Statement statement = open.createStatement(); PreparedStatement known = open.prepareStatement("SELECT \"key\", columns FROM headrace_views WHERE name = ?")) {
      known.setString(1, view.name());
      try (ResultSet found = known.executeQuery()) {
        if (found.next()) {
          evolve(statement, view, found.getString(1).equals(key), (ObjectNode) JSON.readTree(found.getString(2)));
        } else {
          String made = view.columns().stream().map(column -> Dialect.quoted(column.name()) + " " + dialect.type(view, column)).collect(Collectors.joining(", "));
          String by = view.key().stream().map(Dialect::quoted).collect(Collectors.joining(", "));
          statement.execute("CREATE TABLE " + Dialect.quoted(view.name()) + " (" + made + (by.isEmpty() ? "" : ", " + dialect.oneRow(by)) + ")");
        }
      }
    } catch (JsonProcessingException damaged) {
      throw new DeliveryException("the store of views in " + spec.place() + " is damaged", "remove it, and headrace reset FILE --outputs replace");
    }
    try (PreparedStatement put = open.prepareStatement("INSERT INTO headrace_views (name, \"key\", columns) VALUES (?, ?, ?)"
        + " ON CONFLICT (name) DO UPDATE SET \"key\" = excluded.\"key\", columns = excluded.columns")) {
      put.setString(1, view.name());
      put.setString(2, key);
      put.setString(3, columns.toString());
      put.execute();
    }
  }

  private void evolve(Statement statement, View view, boolean sameKey, ObjectNode before) throws SQLException {
    Set<String> lost = new TreeSet<>();
    before.properties().forEach(column -> {
      boolean same = view.columns().stream().anyMatch(now -> now.name().equals(column.getKey()) && now.kind().name().equals(column.getValue().asText()));
      if (!same) {
        lost.add(column.getKey());
      }
    });
    if (!sameKey || !lost.isEmpty()) {
      throw new DeliveryException("the view \"" + view.name() + "\" in " + spec.place() + " has another shape: "
          + (sameKey ? "its columns " + lost + " are gone or of another type" : "its key was another"),
          "give the view another name, or begin anew: headrace reset FILE --outputs replace");
    }
    for (View.Column column : view.columns()) {
      if (!before.has(column.name())) {
        statement.execute("ALTER TABLE " + Dialect.quoted(view.name()) + " ADD COLUMN " + Dialect.quoted(column.name()) + " " + dialect.type(view, column));
      }
    }
  }

  private void mark(Connection open, long epoch) throws SQLException {
    try (PreparedStatement put = open.prepareStatement("INSERT INTO headrace_history (pipeline, checkpoint, epoch, at) VALUES (?, ?, ?, ?)"
        + " ON CONFLICT (pipeline) DO UPDATE SET checkpoint = excluded.checkpoint, epoch = excluded.epoch, at = excluded.at")) {
      put.setString(1, spec.pipeline());
      put.setString(2, spec.checkpoint());
      put.setLong(3, epoch);
      put.setString(4, Instant.now().toString());
      put.execute();
    }
  }

  /** Does the work and commits it, again from the start when the server went away meanwhile and is back in time. */
  private synchronized <T> T inTransaction(String what, Work<T> work) {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      if (closed) {
        throw new DeliveryException("the store of views in " + spec.place() + " " + what + ": it was closed", "run the pipeline again");
      }
      try {
        if (connection == null) {
          connection = dialect.open();
        }
        T done = work.on(connection);
        connection.commit();
        return done;
      } catch (SQLException failure) {
        DeliveryException told = failed(what, failure);
        if (!dialect.passes(failure)) {
          rollBack(told);
          throw told;
        }
        letGo();
        if (closed || System.nanoTime() > deadline) {
          throw told;
        }
        pause(told);
      } catch (IOException failure) {
        DeliveryException told = failed(what, failure);
        rollBack(told);
        throw told;
      } catch (RuntimeException refused) {
        rollBack(refused);
        throw refused;
      }
    }
  }

  private static void pause(RuntimeException otherwise) {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw otherwise;
    }
  }

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8);
  }

  private DeliveryException failed(String what, Exception failure) {
    return new DeliveryException("the store of views in " + spec.place() + " " + what + ": " + dialect.told(failure), dialect.cure(failure));
  }

  private void rollBack(RuntimeException because) {
    try {
      if (connection != null) {
        connection.rollback();
      }
    } catch (SQLException second) {
      because.addSuppressed(second);
      letGo();
    }
  }

  /** Gives up a connection that has broken; its failure has been told. */
  private void letGo() {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (SQLException alreadyBroken) {
      // Nothing is lost by it: the other end has noticed, or will.
    }
    connection = null;
  }

  @Override
  public void close() {
    closed = true;
    synchronized (this) {
      try {
        if (connection != null) {
          connection.close();
        }
      } catch (SQLException failure) {
        throw failed("cannot be closed", failure);
      }
    }
  }
}
