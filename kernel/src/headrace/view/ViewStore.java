package headrace.view;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.deliver.DeliveryException;
import headrace.deliver.Marker;
import java.io.File;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.sqlite.SQLiteConfig;

/**
 * The views of one pipeline in an SQLite file: a table a view, and which epoch they are of.
 *
 * <p>All changes of an epoch and its number are one transaction, so a reader sees every epoch whole or not at all, and a replayed one is
 * known. What changed is kept for a while, for those who follow a view.
 *
 * <p>The driver writes, and nobody else: other processes read.
 */
public final class ViewStore implements AutoCloseable {
  /** The changes that are kept for followers; who is further behind reads the view anew. */
  static final int KEPT_CHANGES = 100_000;

  private static final int BUSY_MILLIS = 30_000;
  private static final ObjectMapper MAPPER = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final ObjectReader JSON = MAPPER.reader();

  private final ViewSpec spec;
  private final Connection connection;

  public ViewStore(ViewSpec spec) {
    this.spec = spec;
    File folder = new File(spec.place()).getAbsoluteFile().getParentFile();
    if (!folder.isDirectory() && !folder.mkdirs() && !folder.isDirectory()) {
      throw new DeliveryException("the folder " + folder + " of the views cannot be made", "set views.store to a folder that can be written");
    }
    SQLiteConfig config = new SQLiteConfig();
    config.setJournalMode(SQLiteConfig.JournalMode.WAL);
    // The checkpoint goes on once this has committed: a power cut must not take it back.
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    config.setBusyTimeout(BUSY_MILLIS);
    try {
      connection = DriverManager.getConnection("jdbc:sqlite:" + spec.place(), config.toProperties());
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE IF NOT EXISTS headrace_history (pipeline TEXT PRIMARY KEY, checkpoint TEXT NOT NULL, "
            + "epoch INTEGER NOT NULL, at TEXT NOT NULL)");
        statement.execute("CREATE TABLE IF NOT EXISTS headrace_views (name TEXT PRIMARY KEY, \"key\" TEXT NOT NULL, columns TEXT NOT NULL)");
        statement.execute("CREATE TABLE IF NOT EXISTS headrace_changes (number INTEGER PRIMARY KEY AUTOINCREMENT, epoch INTEGER NOT NULL, "
            + "view TEXT NOT NULL, \"key\" TEXT NOT NULL, value TEXT)");
      }
      connection.commit();
    } catch (SQLException failure) {
      throw failed("cannot be opened", failure);
    }
  }

  public ViewSpec spec() {
    return spec;
  }

  /** Whose views these are, and up to which epoch; null when nobody's yet. */
  public Marker marker() {
    try (PreparedStatement statement = connection.prepareStatement("SELECT checkpoint, epoch FROM headrace_history WHERE pipeline = ?")) {
      statement.setString(1, spec.pipeline());
      try (ResultSet found = statement.executeQuery()) {
        return found.next() ? new Marker(found.getString(1), found.getLong(2)) : null;
      }
    } catch (SQLException failure) {
      throw failed("cannot be read", failure);
    }
  }

  /** Makes the tables that are missing, adds columns that are new, and gives the store to the spec's history. */
  public void adopt() {
    try {
      Marker marker = marker();
      if (marker == null || !marker.checkpoint().equals(spec.checkpoint())) {
        mark(Marker.BEFORE_ALL);
      }
      for (View view : spec.views()) {
        adopt(view);
      }
      connection.commit();
    } catch (SQLException failure) {
      throw rolledBack("cannot be prepared", failure);
    } catch (RuntimeException refused) {
      rollBack(refused);
      throw refused;
    }
  }

  /** Empties the store: a new history begins with nothing in its views. */
  public void clear() {
    try (Statement statement = connection.createStatement()) {
      List<String> names = new ArrayList<>();
      try (ResultSet found = statement.executeQuery("SELECT name FROM headrace_views")) {
        while (found.next()) {
          names.add(found.getString(1));
        }
      }
      for (String name : names) {
        statement.execute("DROP TABLE IF EXISTS " + quoted(name));
      }
      statement.execute("DELETE FROM headrace_views");
      statement.execute("DELETE FROM headrace_changes");
      statement.execute("DELETE FROM headrace_history");
      connection.commit();
    } catch (SQLException failure) {
      throw rolledBack("cannot be emptied", failure);
    }
  }

  /**
   * Commits an epoch's changes, unless that has been done before.
   *
   * @return whether it was done now
   */
  public boolean apply(long epoch, List<Change> changes) {
    try {
      Marker marker = marker();
      if (marker == null || !marker.checkpoint().equals(spec.checkpoint())) {
        throw new DeliveryException("the views in " + spec.place() + " belong to another history now", "stop whoever else writes there");
      }
      if (marker.epoch() >= epoch) {
        connection.rollback();
        return false;
      }
      for (View view : spec.views()) {
        apply(view, epoch, changes.stream().filter(change -> change.ordinal() == view.ordinal()).toList());
      }
      try (Statement statement = connection.createStatement()) {
        statement.execute("DELETE FROM headrace_changes WHERE number <= (SELECT max(number) FROM headrace_changes) - " + KEPT_CHANGES);
      }
      mark(epoch);
      connection.commit();
      return true;
    } catch (SQLException | IOException failure) {
      throw rolledBack("cannot take epoch " + epoch, failure);
    } catch (RuntimeException failure) {
      rollBack(failure);
      throw failure;
    }
  }

  private void apply(View view, long epoch, List<Change> changes) throws SQLException, IOException {
    if (changes.isEmpty()) {
      return;
    }
    // A row that was changed is told as one that goes and one that comes, in any order: what comes counts.
    Map<String, Change> last = new LinkedHashMap<>();
    for (Change change : changes) {
      last.merge(text(change.key()), change, (before, next) -> next.value() == null ? before : next);
    }
    String where = view.key().isEmpty() ? "" : view.key().stream().map(column -> quoted(column) + " IS ?").collect(Collectors.joining(" AND ", " WHERE ", ""));
    String columns = view.columns().stream().map(column -> quoted(column.name())).collect(Collectors.joining(", "));
    String places = view.columns().stream().map(column -> "?").collect(Collectors.joining(", "));
    try (PreparedStatement delete = connection.prepareStatement("DELETE FROM " + quoted(view.name()) + where);
        PreparedStatement put = connection.prepareStatement("INSERT OR REPLACE INTO " + quoted(view.name()) + " (" + columns + ") VALUES (" + places + ")");
        PreparedStatement tell = connection.prepareStatement("INSERT INTO headrace_changes (epoch, view, \"key\", value) VALUES (?, ?, ?, ?)")) {
      tell.setLong(1, epoch);
      tell.setString(2, view.name());
      for (Map.Entry<String, Change> change : last.entrySet()) {
        byte[] value = change.getValue().value();
        JsonNode key = JSON.readTree(change.getKey());
        // To an index of SQLite's one null is not another: it would keep both rows.
        if (value == null || view.key().isEmpty() || view.key().stream().anyMatch(column -> key.path(column).isNull())) {
          bindKey(delete, view, key);
          delete.addBatch();
        }
        if (value != null) {
          JsonNode row = JSON.readTree(value);
          for (int i = 0; i < view.columns().size(); i++) {
            bind(put, i + 1, view.columns().get(i), row.path(view.columns().get(i).name()));
          }
          put.addBatch();
        }
        tell.setString(3, change.getKey());
        tell.setString(4, value == null ? null : text(value));
        tell.addBatch();
      }
      delete.executeBatch();
      put.executeBatch();
      tell.executeBatch();
    }
  }

  private void adopt(View view) throws SQLException {
    String key = MAPPER.valueToTree(view.key()).toString();
    ObjectNode columns = MAPPER.createObjectNode();
    view.columns().forEach(column -> columns.put(column.name(), column.kind().name()));
    try (Statement statement = connection.createStatement(); PreparedStatement known = connection.prepareStatement("SELECT \"key\", columns FROM headrace_views WHERE name = ?")) {
      known.setString(1, view.name());
      try (ResultSet found = known.executeQuery()) {
        if (found.next()) {
          evolve(statement, view, found.getString(1).equals(key), (ObjectNode) JSON.readTree(found.getString(2)));
        } else {
          String made = view.columns().stream().map(column -> quoted(column.name()) + " " + type(column.kind())).collect(Collectors.joining(", "));
          String by = view.key().stream().map(ViewStore::quoted).collect(Collectors.joining(", "));
          statement.execute("CREATE TABLE " + quoted(view.name()) + " (" + made + (by.isEmpty() ? "" : ", PRIMARY KEY (" + by + ")") + ")");
        }
      }
    } catch (JsonProcessingException damaged) {
      throw new DeliveryException("the store of views in " + spec.place() + " is damaged", "delete it, and headrace reset FILE --outputs replace");
    }
    try (PreparedStatement put = connection.prepareStatement("INSERT OR REPLACE INTO headrace_views (name, \"key\", columns) VALUES (?, ?, ?)")) {
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
        statement.execute("ALTER TABLE " + quoted(view.name()) + " ADD COLUMN " + quoted(column.name()) + " " + type(column.kind()));
      }
    }
  }

  private void mark(long epoch) throws SQLException {
    try (PreparedStatement put = connection.prepareStatement("INSERT OR REPLACE INTO headrace_history (pipeline, checkpoint, epoch, at) VALUES (?, ?, ?, ?)")) {
      put.setString(1, spec.pipeline());
      put.setString(2, spec.checkpoint());
      put.setLong(3, epoch);
      put.setString(4, Instant.now().toString());
      put.execute();
    }
  }

  private static void bindKey(PreparedStatement statement, View view, JsonNode key) throws SQLException {
    for (int i = 0; i < view.key().size(); i++) {
      bind(statement, i + 1, view.column(view.key().get(i)), key.path(view.key().get(i)));
    }
  }

  private static void bind(PreparedStatement statement, int place, View.Column column, JsonNode value) throws SQLException {
    if (value.isMissingNode() || value.isNull()) {
      statement.setNull(place, Types.NULL);
      return;
    }
    switch (column.kind()) {
      case WHOLE -> statement.setLong(place, value.longValue());
      // NaN and the infinities are texts in JSON, and SQLite has no others.
      case NUMBER -> {
        if (value.isNumber()) {
          statement.setDouble(place, value.doubleValue());
        } else {
          statement.setString(place, value.asText());
        }
      }
      case DECIMAL -> bind(statement, place, value.decimalValue());
      case TRUTH -> statement.setInt(place, value.booleanValue() ? 1 : 0);
      case TEXT, TIME -> statement.setString(place, value.asText());
      case NESTED -> statement.setString(place, value.toString());
    }
  }

  /** SQLite has no decimals: a number where a double is that very number, so that SQL can reckon with it, else its text. */
  private static void bind(PreparedStatement statement, int place, BigDecimal value) throws SQLException {
    double near = value.doubleValue();
    if (BigDecimal.valueOf(near).compareTo(value) == 0) {
      statement.setDouble(place, near);
    } else {
      statement.setString(place, value.toPlainString());
    }
  }

  private static String type(View.Kind kind) {
    return switch (kind) {
      case WHOLE -> "INTEGER";
      case NUMBER -> "REAL";
      // Of no type: any would have SQLite make a double of a text that it is not.
      case DECIMAL -> "";
      case TRUTH -> "BOOLEAN";
      case TEXT, TIME, NESTED -> "TEXT";
    };
  }

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8);
  }

  private static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  private DeliveryException failed(String what, Exception failure) {
    return new DeliveryException("the store of views in " + spec.place() + " " + what + ": " + failure.getMessage(),
        "check the setting views.store, and that nobody holds a lock on the file");
  }

  private DeliveryException rolledBack(String what, Exception failure) {
    DeliveryException told = failed(what, failure);
    rollBack(told);
    return told;
  }

  private void rollBack(RuntimeException because) {
    try {
      connection.rollback();
    } catch (SQLException second) {
      because.addSuppressed(second);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException failure) {
      throw failed("cannot be closed", failure);
    }
  }
}
