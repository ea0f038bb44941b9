package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;

/** A JSON object as a map from its field names. */
final class MapReader extends ValueReader {
  private final ValueReader value;
  private final boolean nullable;

  MapReader(ValueReader value, boolean nullable) {
    this.value = value;
    this.nullable = nullable;
  }

  @Override
  String type() {
    return "an object";
  }

  @Override
  MapData read(JsonParser json) throws IOException, Unreadable {
    if (!json.isExpectedStartObjectToken()) {
      throw mismatch(json);
    }
    Map<Object, Object> entries = new LinkedHashMap<>();
    for (String key = json.nextFieldName(); key != null; key = json.nextFieldName()) {
      JsonToken token = json.nextToken();
      Object name = TextReader.utf8(key);
      try {
        if (entries.containsKey(name)) {
          throw new Unreadable("duplicate key");
        }
        if (token == JsonToken.VALUE_NULL && !nullable) {
          throw new Unreadable("null");
        }
        entries.put(name, token == JsonToken.VALUE_NULL ? null : value.read(json));
      } catch (Unreadable e) {
        throw e.inEntry(key);
      }
    }
    return new ArrayBasedMapData(
        new GenericArrayData(entries.keySet().toArray()),
        new GenericArrayData(entries.values().toArray()));
  }
}
