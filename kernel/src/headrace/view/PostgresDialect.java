package headrace.view;

import com.fasterxml.jackson.databind.JsonNode;
import headrace.deliver.DeliveryException;
import headrace.postgres.Passing;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.Properties;

/**
 * A PostgreSQL database: each pipeline has a schema of its name.
 *
 * <p>Who writes locks the row of the history, so that of two drivers one waits and then finds the other's mark.
 */
final class PostgresDialect implements Dialect {
  /** The first that has indexes to which one null is another. */
  private static final int OLDEST = 15;

  /** The channel on which followers are woken. */
  private static final String CHANNEL = "headrace_views";

  private static final String AGAIN = ", then run the pipeline again: it goes on from its checkpoint";

  private static final org.postgresql.Driver DRIVER = new org.postgresql.Driver();

  private final ViewSpec spec;

  PostgresDialect(ViewSpec spec) {
    this.spec = spec;
  }

  @Override
  public Connection open() throws SQLException {
    Properties options = new Properties();
    options.putAll(spec.connection());
    String url = (String) options.remove("url");
    options.setProperty("ApplicationName", "headrace " + spec.pipeline());
    options.setProperty("reWriteBatchedInserts", "true");
    // Details of a failure have rows in them.
    options.setProperty("logServerErrorDetail", "false");
    options.setProperty("tcpKeepAlive", "true");
    options.setProperty("connectTimeout", "10");
    options.setProperty("socketTimeout", "300");
    Connection connection = DRIVER.connect(url, options);
    try {
      prepare(connection);
      return connection;
    } catch (SQLException | RuntimeException failure) {
      try {
        connection.close();
      } catch (SQLException second) {
        failure.addSuppressed(second);
      }
      throw failure;
    }
  }

  private void prepare(Connection connection) throws SQLException {
    int version = connection.getMetaData().getDatabaseMajorVersion();
    if (version < OLDEST) {
      throw new DeliveryException("the views in " + spec.place() + " are in PostgreSQL " + version, "use PostgreSQL " + OLDEST + " or newer");
    }
    // Who has waited for the history's row must see what the other has made of it, whatever the server's default is.
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    connection.setAutoCommit(false);
    String schema = Dialect.quoted(spec.pipeline());
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET search_path = " + schema);
      // A driver that hangs in the middle of an epoch must not keep its successor away for ever, which waits for its end and longer.
      statement.execute("SET lock_timeout = '90s'");
      statement.execute("SET idle_in_transaction_session_timeout = '60s'");
      // The checkpoint goes on once this has committed: a crash of the server must not take it back.
      statement.execute("SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'");
      connection.commit();
      // IF NOT EXISTS fails when two do it at once.
      one(connection, "SELECT count(*) FROM pg_advisory_xact_lock(hashtextextended('headrace views ' || ?, 0))");
      // Who may not make schemas may have been given one.
      if (one(connection, "SELECT count(*) FROM pg_namespace WHERE nspname = ?") == 0) {
        statement.execute("CREATE SCHEMA " + schema);
      }
      if (one(connection, "SELECT count(*) FROM pg_tables WHERE schemaname = ? AND tablename = 'headrace_numbers'") == 0) {
        statement.execute("CREATE TABLE headrace_history (pipeline text PRIMARY KEY, checkpoint text NOT NULL, "
            + "epoch bigint NOT NULL, at text NOT NULL)");
        statement.execute("CREATE TABLE headrace_views (name text PRIMARY KEY, \"key\" text NOT NULL, columns text NOT NULL)");
        statement.execute("CREATE TABLE headrace_changes (number bigint PRIMARY KEY, epoch bigint NOT NULL, "
            + "view text NOT NULL, \"key\" text NOT NULL, value text)");
        statement.execute("CREATE TABLE headrace_numbers (last bigint NOT NULL)");
        statement.execute("INSERT INTO headrace_numbers VALUES (0)");
      }
    }
    connection.commit();
  }

  private long one(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, spec.pipeline());
      try (ResultSet found = statement.executeQuery()) {
        found.next();
        return found.getLong(1);
      }
    }
  }

  @Override
  public String forUpdate() {
    return " FOR UPDATE";
  }

  @Override
  public String type(View view, View.Column column) {
    return switch (column.kind()) {
      case WHOLE -> "bigint";
      case NUMBER -> "double precision";
      case DECIMAL -> "numeric";
      case TRUTH -> "boolean";
      // As text a time is the same in every store and every time zone of a session, and SQL casts it.
      case TEXT, TIME -> "text";
      // Of json nothing can be a key; jsonb puts the fields in another order.
      case NESTED -> view.key().contains(column.name()) ? "text" : "json";
    };
  }

  @Override
  public String oneRow(String columns) {
    return "UNIQUE NULLS NOT DISTINCT (" + columns + ")";
  }

  @Override
  public void bind(PreparedStatement statement, int place, View.Column column, JsonNode value) throws SQLException {
    if (value.isMissingNode() || value.isNull()) {
      // Of the column's own type: else the server would parse the statement anew for each null.
      statement.setNull(place, sqlType(column.kind()));
      return;
    }
    switch (column.kind()) {
      case WHOLE -> statement.setLong(place, value.longValue());
      // NaN and the infinities are texts in JSON.
      case NUMBER -> statement.setDouble(place, value.isNumber() ? value.doubleValue() : Double.parseDouble(value.asText()));
      case DECIMAL -> statement.setBigDecimal(place, value.decimalValue());
      case TRUTH -> statement.setBoolean(place, value.booleanValue());
      case TEXT, TIME -> statement.setString(place, held(column, value.asText()));
      case NESTED -> statement.setObject(place, value.toString(), Types.OTHER);
    }
  }

  private static int sqlType(View.Kind kind) {
    return switch (kind) {
      case WHOLE -> Types.BIGINT;
      case NUMBER -> Types.DOUBLE;
      case DECIMAL -> Types.NUMERIC;
      case TRUTH -> Types.BOOLEAN;
      case TEXT, TIME -> Types.VARCHAR;
      case NESTED -> Types.OTHER;
    };
  }

  private String held(View.Column column, String text) {
    if (text.indexOf('\0') >= 0) {
      throw new DeliveryException("a text of the column " + column.name() + " has the character NUL in it, which PostgreSQL cannot keep",
          "take it out: F.replace(F.col(\"" + column.name() + "\"), F.lit(\"\\x00\"), F.lit(\"\"))");
    }
    return text;
  }

  @Override
  public long lastChange(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement(); ResultSet found = statement.executeQuery("SELECT last FROM headrace_numbers")) {
      found.next();
      return found.getLong(1);
    }
  }

  @Override
  public void changed(Connection connection, long last) throws SQLException {
    try (PreparedStatement keep = connection.prepareStatement("UPDATE headrace_numbers SET last = ?");
        PreparedStatement wake = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
      keep.setLong(1, last);
      keep.execute();
      wake.setString(1, CHANNEL);
      wake.setString(2, spec.pipeline());
      wake.execute();
    }
  }

  @Override
  public boolean passes(SQLException failure) {
    return Passing.is(failure);
  }

  @Override
  public String told(Exception failure) {
    // What failed in a batch is told with its statement, values and all; its cause is not.
    Exception told = failure instanceof BatchUpdateException batch && batch.getNextException() != null ? batch.getNextException() : failure;
    return told.getMessage();
  }

  @Override
  public String cure(Exception failure) {
    String state = failure instanceof SQLException sql && sql.getSQLState() != null ? sql.getSQLState() : "";
    return switch (state) {
      case "21000" -> "the database takes two keys of one epoch for the same, such as 0.0 and -0.0: make them one ahead of the view";
      case "42501" -> "see what the user may write there" + AGAIN;
      case "55P03" -> "see who else holds locks on the tables of the views, and end it" + AGAIN;
      default -> cureOfClass(state.isEmpty() ? "" : state.substring(0, 2));
    };
  }

  private String cureOfClass(String kind) {
    return switch (kind) {
      case "08", "57" -> "see that the server runs, and can be reached" + AGAIN;
      case "22", "23" -> "see which rule of the view's table in the schema " + spec.pipeline() + " the rows break, and change the rows or the rule";
      case "28" -> "see to the user and its password" + AGAIN;
      case "3D" -> "correct the setting views.store";
      case "53" -> "give the server what it lacks" + AGAIN;
      default -> "see what the server says" + AGAIN;
    };
  }
}
