package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.apache.spark.unsafe.types.UTF8String;

/** A JSON string as text. */
final class TextReader extends ValueReader {
  @Override
  String type() {
    return "string";
  }

  @Override
  UTF8String read(JsonParser json) throws IOException, Unreadable {
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw mismatch(json);
    }
    char[] characters = json.getTextCharacters();
    int offset = json.getTextOffset();
    int length = json.getTextLength();
    // Most text is ASCII: its bytes are its characters, and no String is made on the way.
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      char character = characters[offset + i];
      if (character >= 0x80) {
        return utf8(json.getText());
      }
      bytes[i] = (byte) character;
    }
    return UTF8String.fromBytes(bytes);
  }

  /** Half of a surrogate pair, which only an escape can bring in, has no UTF-8: Java would write "?". */
  static UTF8String utf8(String text) throws Unreadable {
    for (int i = 0; i < text.length(); i++) {
      char character = text.charAt(i);
      if (Character.isSurrogate(character)) {
        boolean paired =
            Character.isHighSurrogate(character)
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!paired) {
          throw new Unreadable(
              String.format("\\u%04x is half of a surrogate pair", (int) character));
        }
        i++;
      }
    }
    return UTF8String.fromString(text);
  }
}
