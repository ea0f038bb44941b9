package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;

/** A JSON number as the nearest double or float; one that is beyond the largest does not fit. */
final class FloatingReader extends ValueReader {
  private final String type;
  private final boolean wide;

  FloatingReader(String type, boolean wide) {
    this.type = type;
    this.wide = wide;
  }

  @Override
  String type() {
    return type;
  }

  @Override
  Object read(JsonParser json) throws IOException, Unreadable {
    if (!json.currentToken().isNumeric()) {
      throw mismatch(json);
    }
    if (wide) {
      double value = json.getDoubleValue();
      if (Double.isInfinite(value)) {
        throw unfit(json);
      }
      return value;
    }
    float value = json.getFloatValue();
    if (Float.isInfinite(value)) {
      throw unfit(json);
    }
    return value;
  }
}
