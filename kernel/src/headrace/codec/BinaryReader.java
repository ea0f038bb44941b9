package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Base64;

/** Bytes as a JSON string in base64. */
final class BinaryReader extends ValueReader {
  @Override
  String type() {
    return "base64";
  }

  @Override
  Object read(JsonParser json) throws IOException, Unreadable {
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw mismatch(json);
    }
    try {
      return Base64.getDecoder().decode(json.getText());
    } catch (IllegalArgumentException e) {
      throw mismatch(json);
    }
  }
}
