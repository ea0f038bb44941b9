package headrace.step;

import org.apache.spark.unsafe.types.UTF8String;

/** Why a pane was given: before its window was complete, when it was, or after that. */
enum Pane {
  EARLY, ON_TIME, LATE;

  private final UTF8String text = UTF8String.fromString(name().toLowerCase(java.util.Locale.ROOT));

  UTF8String text() {
    return text;
  }
}
