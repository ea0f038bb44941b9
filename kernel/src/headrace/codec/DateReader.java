package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** A day as yyyy-mm-dd. */
final class DateReader extends ValueReader {
  @Override
  String type() {
    return "date";
  }

  @Override
  Object read(JsonParser json) throws IOException, Unreadable {
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw mismatch(json);
    }
    int from = json.getTextOffset();
    long day = IsoTime.day(json.getTextCharacters(), from, from + json.getTextLength());
    if (day == IsoTime.NONE) {
      throw mismatch(json);
    }
    return (int) day;
  }
}
