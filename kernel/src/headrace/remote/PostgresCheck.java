package headrace.remote;

import headrace.remote.RemoteException.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;

/** Whether a table is as it was declared, asked before the first row. */
final class PostgresCheck {
  private static final Set<String> WHOLE = Set.of("smallint", "integer", "bigint");
  private static final Set<String> TEXTS = Set.of("text", "character varying", "uuid");
  private static final Map<String, Set<String>> READ_AS = Map.of(
      "bigint", WHOLE,
      "double", Set.of("double precision", "real"),
      "boolean", Set.of("boolean"),
      "binary", Set.of("bytea"),
      "timestamp", Set.of("timestamp with time zone"),
      "date", Set.of("date"));
  private static final Set<String> DECIMALS = Set.of("numeric", "smallint", "integer", "bigint");

  private static final String COLUMNS = "SELECT a.attname, COALESCE(NULLIF(t.typbasetype, 0), t.oid)::regtype::text "
      + "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
      + "WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";
  private static final String IS_TABLE = "SELECT relkind IN ('r', 'p', 'm') FROM pg_class WHERE oid = to_regclass(?)";
  private static final String UNIQUE = "SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
      + "WHERE i.indrelid = to_regclass(?) AND i.indisunique AND i.indisvalid AND i.indnkeyatts = 1 AND i.indpred IS NULL AND a.attname = ?";

  private PostgresCheck() {}

  /** Refuses a table that is not as it was declared. */
  static void check(RemoteTable table) {
    try {
      Connection connection = Postgres.connect(table);
      try {
        check(connection, table);
      } finally {
        Postgres.closeQuietly(connection);
      }
    } catch (SQLException failure) {
      throw Postgres.passes(failure) ? Postgres.unreachable(table, failure) : Postgres.refused(table, failure);
    }
  }

  private static void check(Connection connection, RemoteTable table) throws SQLException {
    Map<String, String> columns = columns(connection, table);
    String key = has(columns, table, table.key());
    boolean texts = table.keyType() instanceof StringType;
    if (!(texts ? TEXTS : WHOLE).contains(key)) {
      throw declared(table, "has " + table.key() + " as " + key + ", and it was declared " + table.keyType().simpleString(),
          "look up by a column that is " + (texts ? "text, varchar or uuid" : "bigint, integer or smallint"));
    }
    for (StructField field : table.row().fields()) {
      String type = has(columns, table, field.name());
      if (!isRead(type, field.dataType())) {
        throw declared(table, "has " + field.name() + " as " + type + ", which is not read as " + field.dataType().simpleString(),
            "correct the record's field, or look up a view that casts the column"
                + (type.equals("timestamp without time zone") ? " (AT TIME ZONE 'UTC')" : ""));
      }
    }
    boolean isTable = is(connection, IS_TABLE, table.name()) && first(connection, IS_TABLE, table.name());
    if (isTable && !is(connection, UNIQUE, table.name(), table.key())) {
      throw declared(table, "may have several rows of one " + table.key() + ": it is no primary key, and has no unique index by itself",
          "look up by a column that tells rows apart");
    }
    try (PreparedStatement statement = connection.prepareStatement(Postgres.sql(table, key.equals("uuid")))) {
      // What it may not read, it says now.
      statement.setArray(1, connection.createArrayOf(texts ? "text" : "int8", new Object[0]));
      statement.executeQuery().close();
    }
  }

  /** The type of a column, below a domain's name. */
  static String typeOf(Connection connection, RemoteTable table, String column) throws SQLException {
    return has(columns(connection, table), table, column);
  }

  private static String has(Map<String, String> columns, RemoteTable table, String name) {
    String type = columns.get(name);
    if (type == null) {
      throw declared(table, "has no column " + name, "it has: " + String.join(", ", columns.keySet()));
    }
    return type;
  }

  private static Map<String, String> columns(Connection connection, RemoteTable table) throws SQLException {
    Map<String, String> columns = new LinkedHashMap<>();
    try (PreparedStatement statement = connection.prepareStatement(COLUMNS)) {
      statement.setString(1, table.name());
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          columns.put(found.getString(1), found.getString(2));
        }
      }
    }
    if (columns.isEmpty()) {
      throw declared(table, "is not there", "correct the table's name; the schema can be given, too: \"schema.table\"");
    }
    return columns;
  }

  private static boolean isRead(String type, DataType as) {
    String name = as.simpleString();
    if (as instanceof StringType) {
      return !type.endsWith("[]") && !type.equals("bytea");
    }
    return name.startsWith("decimal") ? DECIMALS.contains(type) : READ_AS.getOrDefault(name, Set.of()).contains(type);
  }

  private static boolean is(Connection connection, String sql, String... values) throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values); ResultSet found = statement.executeQuery()) {
      return found.next();
    }
  }

  private static boolean first(Connection connection, String sql, String... values) throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values); ResultSet found = statement.executeQuery()) {
      return found.next() && found.getBoolean(1);
    }
  }

  private static PreparedStatement prepared(Connection connection, String sql, String... values) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      statement.setString(i + 1, values[i]);
    }
    return statement;
  }

  private static RemoteException declared(RemoteTable table, String what, String cure) {
    return new RemoteException(Kind.DECLARED, table, what, cure, null);
  }
}
