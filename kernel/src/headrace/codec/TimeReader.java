package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** A moment as ISO-8601 text. A number is refused: nobody can tell seconds from milliseconds. */
final class TimeReader extends ValueReader {
  private final String type;
  private final IsoTime.Zone zone;

  TimeReader(String type, IsoTime.Zone zone) {
    this.type = type;
    this.zone = zone;
  }

  @Override
  String type() {
    return type;
  }

  @Override
  Object read(JsonParser json) throws IOException, Unreadable {
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw mismatch(json);
    }
    int from = json.getTextOffset();
    int to = from + json.getTextLength();
    long micros = IsoTime.micros(json.getTextCharacters(), from, to, zone);
    if (micros == IsoTime.NONE) {
      throw mismatch(json);
    }
    return micros;
  }
}
