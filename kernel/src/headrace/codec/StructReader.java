package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** A JSON object as a row. Fields that the struct does not name are skipped. */
final class StructReader extends ValueReader {
  private final String[] names;
  private final ValueReader[] readers;
  private final boolean[] required;
  private final Map<String, Integer> ordinals = new HashMap<>();

  /** Every non-nullable field is required but the excused one (-1: none). */
  StructReader(StructType struct, int excused) {
    StructField[] fields = struct.fields();
    names = new String[fields.length];
    readers = new ValueReader[fields.length];
    required = new boolean[fields.length];
    for (int i = 0; i < fields.length; i++) {
      names[i] = fields[i].name();
      readers[i] = Readers.of(names[i], fields[i].dataType());
      required[i] = i != excused && !fields[i].nullable();
      ordinals.put(names[i], i);
    }
  }

  @Override
  String type() {
    return "an object";
  }

  @Override
  InternalRow read(JsonParser json) throws IOException, Unreadable {
    if (!json.isExpectedStartObjectToken()) {
      throw mismatch(json);
    }
    Object[] values = new Object[names.length];
    boolean[] seen = new boolean[names.length];
    int next = 0;
    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
      JsonToken token = json.nextToken();
      // Producers write fields in one order, most often the declared one: try that before hashing.
      int ordinal = next < names.length && names[next].equals(name) ? next : ordinal(name);
      if (ordinal < 0) {
        json.skipChildren();
        continue;
      }
      next = ordinal + 1;
      if (seen[ordinal]) {
        throw new Unreadable("duplicate field " + name);
      }
      seen[ordinal] = true;
      if (token != JsonToken.VALUE_NULL) {
        values[ordinal] = value(ordinal, json);
      } else if (required[ordinal]) {
        throw new Unreadable("null").inField(name);
      }
    }
    for (int i = 0; i < seen.length; i++) {
      if (required[i] && !seen[i]) {
        throw new Unreadable("missing").inField(names[i]);
      }
    }
    return new GenericInternalRow(values);
  }

  private int ordinal(String name) {
    Integer ordinal = ordinals.get(name);
    return ordinal == null ? -1 : ordinal;
  }

  private Object value(int ordinal, JsonParser json) throws IOException, Unreadable {
    try {
      return readers[ordinal].read(json);
    } catch (Unreadable e) {
      throw e.inField(names[ordinal]);
    }
  }
}
