package headrace.view;

import com.fasterxml.jackson.databind.JsonNode;
import headrace.deliver.DeliveryException;
import java.io.File;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import org.sqlite.SQLiteConfig;

/** An SQLite file: the driver writes, and nobody else; other processes read. */
final class SqliteDialect implements Dialect {
  private static final int BUSY_MILLIS = 30_000;

  private final String file;

  SqliteDialect(String file) {
    this.file = file;
  }

  @Override
  public Connection open() throws SQLException {
    File folder = new File(file).getAbsoluteFile().getParentFile();
    if (!folder.isDirectory() && !folder.mkdirs() && !folder.isDirectory()) {
      throw new DeliveryException("the folder " + folder + " of the views cannot be made", "set views.store to a folder that can be written");
    }
    SQLiteConfig config = new SQLiteConfig();
    config.setJournalMode(SQLiteConfig.JournalMode.WAL);
    // The checkpoint goes on once this has committed: a power cut must not take it back.
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    config.setBusyTimeout(BUSY_MILLIS);
    Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file, config.toProperties());
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS headrace_history (pipeline TEXT PRIMARY KEY, checkpoint TEXT NOT NULL, "
          + "epoch INTEGER NOT NULL, at TEXT NOT NULL)");
      statement.execute("CREATE TABLE IF NOT EXISTS headrace_views (name TEXT PRIMARY KEY, \"key\" TEXT NOT NULL, columns TEXT NOT NULL)");
      statement.execute("CREATE TABLE IF NOT EXISTS headrace_changes (number INTEGER PRIMARY KEY AUTOINCREMENT, epoch INTEGER NOT NULL, "
          + "view TEXT NOT NULL, \"key\" TEXT NOT NULL, value TEXT)");
    }
    connection.commit();
    return connection;
  }

  @Override
  public String forUpdate() {
    // One writer at a time has the whole file.
    return "";
  }

  @Override
  public String type(View view, View.Column column) {
    return switch (column.kind()) {
      case WHOLE -> "INTEGER";
      case NUMBER -> "REAL";
      // Of no type: any would have SQLite make a double of a text that it is not.
      case DECIMAL -> "";
      case TRUTH -> "BOOLEAN";
      case TEXT, TIME, NESTED -> "TEXT";
    };
  }

  @Override
  public String oneRow(String columns) {
    return "PRIMARY KEY (" + columns + ")";
  }

  @Override
  public void bind(PreparedStatement statement, int place, View.Column column, JsonNode value) throws SQLException {
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

  @Override
  public long lastChange(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("SELECT seq FROM sqlite_sequence WHERE name = 'headrace_changes'")) {
      return found.next() ? found.getLong(1) : 0;
    }
  }

  @Override
  public void changed(Connection connection, long last) {
    // SQLite keeps the highest number that it was given, and followers look often: a file costs them nothing.
  }

  @Override
  public boolean passes(SQLException failure) {
    return false;
  }

  @Override
  public String told(Exception failure) {
    return failure.getMessage();
  }

  @Override
  public String cure(Exception failure) {
    return "check the setting views.store, and that nobody holds a lock on the file";
  }
}
