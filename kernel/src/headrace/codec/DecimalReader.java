package headrace.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import org.apache.spark.sql.types.Decimal;

/**
 * An exact decimal from a JSON number, or from a JSON string that holds a plain one.
 *
 * <p>Money is often sent as text, because many JSON readers make a double of every number. In text,
 * only a sign, digits and a fraction are taken. Nothing is rounded: what has more digits than the
 * type does not fit, but for zeros at the end of the fraction.
 */
final class DecimalReader extends ValueReader {
  /** Beyond any decimal of Spark's; keeps a megabyte of digits from being multiplied out. */
  private static final int LONGEST = 1000;

  private static final int DIGITS_OF_LONG = 18;
  private static final long[] POWERS = new long[DIGITS_OF_LONG + 1];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = 10 * POWERS[i - 1];
    }
  }

  private final int precision;
  private final int scale;

  DecimalReader(int precision, int scale) {
    this.precision = precision;
    this.scale = scale;
  }

  @Override
  String type() {
    return "decimal(" + precision + "," + scale + ")";
  }

  @Override
  Decimal read(JsonParser json) throws IOException, Unreadable {
    JsonToken token = json.currentToken();
    boolean text = token == JsonToken.VALUE_STRING;
    if (!text && !token.isNumeric()) {
      throw mismatch(json);
    }
    char[] characters = json.getTextCharacters();
    int from = json.getTextOffset();
    int to = from + json.getTextLength();
    if (text && !plain(characters, from, to)) {
      throw mismatch(json);
    }
    Decimal value = to - from <= DIGITS_OF_LONG ? small(characters, from, to) : null;
    if (value == null && to - from <= LONGEST) {
      value = large(characters, from, to);
    }
    if (value == null) {
      throw unfit(json);
    }
    return value;
  }

  /** Sign, digits, and perhaps a fraction: no exponent, blanks or separators. */
  private static boolean plain(char[] text, int from, int to) {
    int at = from < to && text[from] == '-' ? from + 1 : from;
    int whole = at;
    while (at < to && isDigit(text[at])) {
      at++;
    }
    if (at == whole) {
      return false;
    }
    if (at < to && text[at] == '.') {
      int fraction = ++at;
      while (at < to && isDigit(text[at])) {
        at++;
      }
      return at == to && at > fraction;
    }
    return at == to;
  }

  private static boolean isDigit(char character) {
    return character >= '0' && character <= '9';
  }

  /** A number that fits a long while it is read; null when it takes the exact, slow way. */
  private Decimal small(char[] text, int from, int to) {
    boolean negative = text[from] == '-';
    long unscaled = 0;
    int fraction = -1;
    for (int at = negative ? from + 1 : from; at < to; at++) {
      char character = text[at];
      if (isDigit(character)) {
        unscaled = 10 * unscaled + (character - '0');
        if (fraction >= 0) {
          fraction++;
        }
      } else if (character == '.') {
        fraction = 0;
      } else {
        return null;
      }
    }
    int up = scale - Math.max(fraction, 0);
    if (up < 0 || up > DIGITS_OF_LONG || unscaled > (POWERS[DIGITS_OF_LONG] - 1) / POWERS[up]) {
      return null;
    }
    unscaled *= POWERS[up];
    if (precision <= DIGITS_OF_LONG && unscaled >= POWERS[precision]) {
      return null;
    }
    return Decimal.apply(negative ? -unscaled : unscaled, precision, scale);
  }

  /** Any number; null when it does not fit. */
  private Decimal large(char[] text, int from, int to) {
    BigDecimal value;
    try {
      value = new BigDecimal(text, from, to - from);
    } catch (NumberFormatException e) {
      // An exponent that is beyond an int.
      return null;
    }
    if (value.signum() == 0) {
      return Decimal.apply(0L, precision, scale);
    }
    // Before any digit is multiplied out: 1e999999999 is a short text and a long number.
    if ((long) value.precision() - value.scale() > precision - scale) {
      return null;
    }
    if (value.scale() > scale) {
      value = value.stripTrailingZeros();
    }
    if (value.scale() > scale) {
      return null;
    }
    return Decimal.apply(new scala.math.BigDecimal(value.setScale(scale)), precision, scale);
  }
}
