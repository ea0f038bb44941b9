package headrace.view;

import com.fasterxml.jackson.databind.JsonNode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** What one kind of database does in its own way; all that a store of views promises is {@link ViewStore}'s. */
interface Dialect {
  /** Connects, without auto-commit, to a database in which the store's own tables are there. */
  Connection open() throws SQLException;

  /** What ends a query for a row that is to be written: another writer of it waits until this one is done. */
  String forUpdate();

  /** How a column is kept; nothing where the database has no type that fits. */
  String type(View view, View.Column column);

  /** What makes a table have one row a key. */
  String oneRow(String columns);

  void bind(PreparedStatement statement, int place, View.Column column, JsonNode value) throws SQLException;

  /** The number of the last change that was told to followers; numbers never come again, whatever was deleted. */
  long lastChange(Connection connection) throws SQLException;

  /** Keeps that number, and wakes who follows, once this transaction commits. */
  void changed(Connection connection, long last) throws SQLException;

  /** Whether the connection is gone, or the server is about to be there: another try may go well. */
  boolean passes(SQLException failure);

  /** What the database says of a failure, without any row in it. */
  String told(Exception failure);

  /** What to do about a failure. */
  String cure(Exception failure);

  static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }
}
