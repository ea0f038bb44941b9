package headrace.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A remote table as the plan wrote it down: where it is, what is read of it, and how gently.
 *
 * @param step what the user calls the look-up
 * @param where the user's file and line
 * @param place the server and database as people may see them
 * @param options of the connection; secrets are in there
 * @param schema null where the server's search path decides
 * @param key the column that rows are looked up by; no two rows have the same
 * @param row the columns that are read besides
 * @param keepMillis how long an answer counts, 0 for the batch that asked
 * @param keepRows how many answers are kept at most
 * @param batch how many keys are asked for at once
 * @param queries how many queries run at a time in this JVM
 * @param retryMillis how long a server that cannot be reached is tried
 */
public record RemoteTable(String pipeline, String step, String where, String place, String url, Map<String, String> options, String schema,
    String table, String key, DataType keyType, StructType row, long keepMillis, long keepRows, int batch, int queries, long retryMillis)
    implements Serializable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Reads the driver's JSON; a broken one is told without quoting it, since it holds secrets. */
  public static RemoteTable parse(String text) {
    JsonNode json;
    try {
      json = JSON.readTree(text);
    } catch (JsonProcessingException broken) {
      throw new IllegalArgumentException("the remote table is no JSON, at " + broken.getLocation());
    }
    Map<String, String> options = new TreeMap<>();
    json.path("options").properties().forEach(option -> options.put(option.getKey(), option.getValue().asText()));
    return new RemoteTable(text(json, "pipeline"), text(json, "step"), text(json, "where"), text(json, "place"), text(json, "url"), options,
        json.path("schema").isTextual() ? json.path("schema").textValue() : null, text(json, "table"), text(json, "key"),
        DataType.fromJson(json.path("key_type").toString()), (StructType) DataType.fromJson(json.path("row").toString()),
        json.path("keep_millis").longValue(), json.path("keep_rows").longValue(), json.path("batch").intValue(),
        json.path("queries").intValue(), json.path("retry_millis").longValue());
  }

  private static String text(JsonNode json, String name) {
    if (!json.path(name).isTextual()) {
      throw new IllegalArgumentException("the remote table lacks '" + name + "'");
    }
    return json.path(name).textValue();
  }

  /** The look-up and the table, without anything secret. */
  String told() {
    return "look-up '" + step + "': " + (schema == null ? "" : schema + ".") + table + " in " + place;
  }

  /** The table's name in SQL. */
  String name() {
    return (schema == null ? "" : quoted(schema) + ".") + quoted(table);
  }

  static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  @Override
  public String toString() {
    return told();
  }
}
