package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.function.LongFunction;

/** A JSON number without fraction or exponent, within the range of its type. */
final class IntegralReader extends ValueReader {
  private final String type;
  private final long least;
  private final long greatest;
  private final LongFunction<Object> boxed;

  IntegralReader(String type, long least, long greatest, LongFunction<Object> boxed) {
    this.type = type;
    this.least = least;
    this.greatest = greatest;
    this.boxed = boxed;
  }

  @Override
  String type() {
    return type;
  }

  @Override
  Object read(JsonParser json) throws IOException, Unreadable {
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw mismatch(json);
    }
    if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      throw unfit(json);
    }
    long value = json.getLongValue();
    if (value < least || value > greatest) {
      throw unfit(json);
    }
    return boxed.apply(value);
  }
}
