package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;

/** true or false. */
final class BooleanReader extends ValueReader {
  @Override
  String type() {
    return "boolean";
  }

  @Override
  Object read(JsonParser json) throws IOException, Unreadable {
    if (!json.currentToken().isBoolean()) {
      throw mismatch(json);
    }
    return json.getBooleanValue();
  }
}
