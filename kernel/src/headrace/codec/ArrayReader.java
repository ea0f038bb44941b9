package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/** A JSON array. */
final class ArrayReader extends ValueReader {
  private final ValueReader element;
  private final boolean nullable;

  ArrayReader(ValueReader element, boolean nullable) {
    this.element = element;
    this.nullable = nullable;
  }

  @Override
  String type() {
    return "an array";
  }

  @Override
  ArrayData read(JsonParser json) throws IOException, Unreadable {
    if (!json.isExpectedStartArrayToken()) {
      throw mismatch(json);
    }
    List<Object> values = new ArrayList<>();
    for (JsonToken token = json.nextToken();
        token != JsonToken.END_ARRAY;
        token = json.nextToken()) {
      try {
        if (token != JsonToken.VALUE_NULL) {
          values.add(element.read(json));
        } else if (nullable) {
          values.add(null);
        } else {
          throw new Unreadable("null");
        }
      } catch (Unreadable e) {
        throw e.inElement(values.size());
      }
    }
    return new GenericArrayData(values.toArray());
  }
}
