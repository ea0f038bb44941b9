package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** One JSON value as a Catalyst value. The parser stands on the value's first token, never null. */
abstract class ValueReader {
  /** The type as users write it, for reasons. */
  abstract String type();

  abstract Object read(JsonParser json) throws IOException, Unreadable;

  /** The value is of another kind than the type wants. */
  final Unreadable mismatch(JsonParser json) throws IOException {
    return Unreadable.expected(type(), found(json));
  }

  final Unreadable unfit(JsonParser json) throws IOException {
    return Unreadable.unfit(json.getText(), type());
  }

  static String found(JsonParser json) throws IOException {
    JsonToken token = json.currentToken();
    return switch (token) {
      case VALUE_STRING -> "string \"" + Unreadable.excerpt(json.getText()) + "\"";
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "number " + Unreadable.excerpt(json.getText());
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      default -> token.asString();
    };
  }
}
