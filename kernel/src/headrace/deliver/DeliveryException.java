package headrace.deliver;

/**
 * A delivery that failed, in one line: {@code what happened; cure: what to do}.
 *
 * <p>A task's exception reaches the driver as text inside Spark's own message, so the driver finds the line
 * again with {@link #line(Throwable)}.
 */
public final class DeliveryException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final String NAME = DeliveryException.class.getName() + ": ";

  public DeliveryException(String what, String cure, Throwable cause) {
    super(oneLine(what) + "; cure: " + oneLine(cure), cause);
  }

  public DeliveryException(String what, String cure) {
    this(what, cure, null);
  }

  /** The line of the delivery that failed, found anywhere in a chain of exceptions; null when none did. */
  public static String line(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof DeliveryException) {
        return at.getMessage();
      }
      String found = line(at.getMessage());
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** The same, found in the text of an exception. */
  public static String line(String text) {
    int start = text == null ? -1 : text.indexOf(NAME);
    if (start < 0) {
      return null;
    }
    int end = text.indexOf('\n', start);
    return text.substring(start + NAME.length(), end < 0 ? text.length() : end);
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s*\\R\\s*", " ");
  }
}
