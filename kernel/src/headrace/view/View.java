package headrace.view;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * A view as the plan wrote it down.
 *
 * @param ordinal the outlet that its rows come by
 * @param key the columns that tell its rows apart, a part of {@code columns}; none where it has one row at most
 */
public record View(int ordinal, String name, List<String> key, List<Column> columns) implements Serializable {

  /** A column, and how it is kept. */
  public record Column(String name, Kind kind) implements Serializable {}

  /** What a store makes of a column. */
  public enum Kind {
    WHOLE, NUMBER, DECIMAL, TRUTH, TEXT, TIME,
    /** Structs, arrays and maps: JSON. */
    NESTED
  }

  static View parse(JsonNode json) {
    List<String> key = new ArrayList<>();
    json.path("key").forEach(column -> key.add(column.asText()));
    List<Column> columns = new ArrayList<>();
    for (JsonNode column : json.path("columns")) {
      columns.add(new Column(column.path("name").asText(), Kind.valueOf(column.path("kind").asText())));
    }
    if (columns.isEmpty()) {
      throw new IllegalArgumentException("the view " + json.path("name") + " has no columns");
    }
    return new View(json.path("ordinal").asInt(), json.path("name").asText(), key, columns);
  }

  Column column(String wanted) {
    return columns.stream().filter(column -> column.name().equals(wanted)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("the view " + name + " has no column " + wanted));
  }
}
