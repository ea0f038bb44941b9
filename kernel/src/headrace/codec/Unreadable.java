package headrace.codec;

/** A message that cannot be read, and why: the path grows while the exception leaves the message. */
final class Unreadable extends Exception {
  private static final long serialVersionUID = 1L;
  private static final int LONGEST = 40;

  private String path = "";

  Unreadable(String reason) {
    // No stack trace: bad messages come in floods, and the reason says where in the message it is.
    super(reason, null, false, false);
  }

  static Unreadable unfit(String text, String type) {
    return new Unreadable(excerpt(text) + " does not fit " + type);
  }

  static Unreadable expected(String type, String found) {
    return new Unreadable("expected " + type + ", found " + found);
  }

  /** The user's own text, short enough for a log line. */
  static String excerpt(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
  }

  Unreadable inField(String name) {
    path = path.isEmpty() || path.startsWith("[") ? name + path : name + "." + path;
    return this;
  }

  Unreadable inElement(int index) {
    path = "[" + index + "]" + (path.isEmpty() || path.startsWith("[") ? path : "." + path);
    return this;
  }

  Unreadable inEntry(String key) {
    path = "[\"" + excerpt(key) + "\"]" + (path.isEmpty() || path.startsWith("[") ? path : "." + path);
    return this;
  }

  String reason() {
    return path.isEmpty() ? getMessage() : "field " + path + ": " + getMessage();
  }
}
