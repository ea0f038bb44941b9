package headrace.view;

import com.fasterxml.jackson.databind.JsonNode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The rows of a view as they are written: first all that go, then all that come. */
final class ViewTable implements AutoCloseable {
  private final Connection connection;
  private final Dialect dialect;
  private final View view;
  private final List<View.Column> key;
  private final PreparedStatement put;

  /** By which columns of the key are null: that a column is null is said in another way than that it equals something. */
  private final Map<List<Boolean>, PreparedStatement> deletes = new HashMap<>();

  ViewTable(Connection connection, Dialect dialect, View view) throws SQLException {
    this.connection = connection;
    this.dialect = dialect;
    this.view = view;
    this.key = view.key().stream().map(view::column).toList();
    this.put = connection.prepareStatement(insert(view));
  }

  private static String insert(View view) {
    String columns = view.columns().stream().map(column -> Dialect.quoted(column.name())).collect(Collectors.joining(", "));
    String places = view.columns().stream().map(column -> "?").collect(Collectors.joining(", "));
    String row = "INSERT INTO " + Dialect.quoted(view.name()) + " (" + columns + ") VALUES (" + places + ")";
    if (view.key().isEmpty()) {
      return row;
    }
    String by = view.key().stream().map(Dialect::quoted).collect(Collectors.joining(", "));
    String others = view.columns().stream().map(View.Column::name).filter(name -> !view.key().contains(name))
        .map(name -> Dialect.quoted(name) + " = excluded." + Dialect.quoted(name)).collect(Collectors.joining(", "));
    return row + " ON CONFLICT (" + by + ") DO " + (others.isEmpty() ? "NOTHING" : "UPDATE SET " + others);
  }

  void delete(JsonNode row) throws SQLException {
    List<Boolean> nulls = key.stream().map(column -> row.path(column.name()).isNull() || row.path(column.name()).isMissingNode()).toList();
    PreparedStatement delete = deletes.get(nulls);
    if (delete == null) {
      List<String> same = new ArrayList<>();
      for (int i = 0; i < key.size(); i++) {
        same.add(Dialect.quoted(key.get(i).name()) + (nulls.get(i) ? " IS NULL" : " = ?"));
      }
      delete = connection.prepareStatement("DELETE FROM " + Dialect.quoted(view.name()) + (same.isEmpty() ? "" : " WHERE " + String.join(" AND ", same)));
      deletes.put(nulls, delete);
    }
    int place = 1;
    for (int i = 0; i < key.size(); i++) {
      if (!nulls.get(i)) {
        dialect.bind(delete, place++, key.get(i), row.path(key.get(i).name()));
      }
    }
    delete.addBatch();
  }

  void put(JsonNode row) throws SQLException {
    int place = 1;
    for (View.Column column : view.columns()) {
      dialect.bind(put, place++, column, row.path(column.name()));
    }
    put.addBatch();
  }

  void flush() throws SQLException {
    for (PreparedStatement delete : deletes.values()) {
      delete.executeBatch();
    }
    put.executeBatch();
  }

  @Override
  public void close() throws SQLException {
    for (PreparedStatement delete : deletes.values()) {
      delete.close();
    }
    put.close();
  }
}
