package headrace.step;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Event times in words, for messages. */
final class Times {
  private Times() {}

  static String text(long micros) {
    if (micros == Context.END) {
      return "the end of time";
    }
    return micros == Context.NO_WATERMARK ? "the beginning of time" : Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
  }

  static String window(long start, long end) {
    return "[" + text(start) + ", " + text(end) + ")";
  }
}
