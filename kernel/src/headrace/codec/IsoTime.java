package headrace.codec;

/**
 * ISO-8601 text as microseconds since 1970.
 *
 * <p>Taken: {@code 2026-01-31T12:30:15.123456Z}, with a blank for the T, without seconds or their
 * fraction, with {@code +01:00}, {@code +0100}, {@code +01} for the Z, or with nothing for it (then
 * UTC). Years 0001 to 9999. Digits of a fraction beyond the sixth are cut off: clocks that count
 * nanoseconds are common, and Spark has microseconds. A leap second, 24:00 and named zones are not
 * taken.
 */
final class IsoTime {
  /** No moment: years are bounded, so that no text means it. */
  static final long NONE = Long.MIN_VALUE;

  enum Zone {
    OPTIONAL,
    REFUSED
  }

  private static final int SHORTEST = 16;
  private static final int DATE = 10;

  private IsoTime() {}

  static long micros(char[] text, int from, int to, Zone zone) {
    if (to - from < SHORTEST) {
      return NONE;
    }
    long day = day(text, from, from + DATE);
    char separator = text[from + 10];
    int hour = two(text, from + 11, to);
    int minute = two(text, from + 14, to);
    if (day == NONE
        || separator != 'T' && separator != ' ' && separator != 't'
        || text[from + 13] != ':'
        || hour < 0
        || hour > 23
        || minute < 0
        || minute > 59) {
      return NONE;
    }
    int at = from + SHORTEST;
    int second = 0;
    int fraction = 0;
    if (at < to && text[at] == ':') {
      second = two(text, at + 1, to);
      if (second < 0 || second > 59) {
        return NONE;
      }
      at += 3;
      if (at < to && text[at] == '.') {
        int start = ++at;
        int weight = 100_000;
        for (; at < to && text[at] >= '0' && text[at] <= '9'; at++) {
          fraction += weight * (text[at] - '0');
          weight /= 10;
        }
        if (at == start || at - start > 9) {
          return NONE;
        }
      }
    }
    int ahead = 0;
    if (at < to) {
      ahead = zone == Zone.REFUSED ? Integer.MIN_VALUE : offsetMinutes(text, at, to);
      if (ahead == Integer.MIN_VALUE) {
        return NONE;
      }
    }
    long minutes = day * 1440 + hour * 60L + minute - ahead;
    return (minutes * 60 + second) * 1_000_000 + fraction;
  }

  /** Days since 1970, or NONE. */
  static long day(char[] text, int from, int to) {
    if (to - from != DATE || text[from + 4] != '-' || text[from + 7] != '-') {
      return NONE;
    }
    int century = two(text, from, to);
    int ofCentury = two(text, from + 2, to);
    int month = two(text, from + 5, to);
    int day = two(text, from + 8, to);
    if (century < 0 || ofCentury < 0) {
      return NONE;
    }
    int year = 100 * century + ofCentury;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > lengthOf(month, year)) {
      return NONE;
    }
    return daysSince1970(year, month, day);
  }

  /** Z, or a sign and hh, hh:mm or hhmm; up to 18 hours, as in Java. */
  private static int offsetMinutes(char[] text, int at, int to) {
    char sign = text[at];
    int length = to - at;
    if (sign == 'Z' || sign == 'z') {
      return length == 1 ? 0 : Integer.MIN_VALUE;
    }
    if (sign != '+' && sign != '-') {
      return Integer.MIN_VALUE;
    }
    int hours = two(text, at + 1, to);
    int minutes;
    if (length == 3) {
      minutes = 0;
    } else if (length == 5) {
      minutes = two(text, at + 3, to);
    } else if (length == 6 && text[at + 3] == ':') {
      minutes = two(text, at + 4, to);
    } else {
      return Integer.MIN_VALUE;
    }
    if (hours < 0 || minutes < 0 || minutes > 59 || 60 * hours + minutes > 18 * 60) {
      return Integer.MIN_VALUE;
    }
    return sign == '-' ? -(60 * hours + minutes) : 60 * hours + minutes;
  }

  private static int two(char[] text, int at, int to) {
    if (at + 2 > to) {
      return -1;
    }
    int tens = text[at] - '0';
    int ones = text[at + 1] - '0';
    return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : 10 * tens + ones;
  }

  private static int lengthOf(int month, int year) {
    return switch (month) {
      case 2 -> year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
      case 4, 6, 9, 11 -> 30;
      default -> 31;
    };
  }

  /** The proleptic Gregorian calendar, with years that begin in March so that leap days end them. */
  private static long daysSince1970(int year, int month, int day) {
    int marchYear = month > 2 ? year : year - 1;
    int marchMonth = month > 2 ? month - 3 : month + 9;
    long leaps = marchYear / 4 - marchYear / 100 + marchYear / 400;
    return 365L * marchYear + leaps + (153 * marchMonth + 2) / 5 + day - 719_469;
  }
}
