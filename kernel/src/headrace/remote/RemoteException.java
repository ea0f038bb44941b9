package headrace.remote;

/**
 * A look-up that failed, in one line: {@code kind: what happened; at: file:line; cure: what to do}.
 *
 * <p>A task's exception reaches the driver as text inside Spark's own message, so the driver finds the line again by the name of this
 * class.
 */
public final class RemoteException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Whose fault it is: what was declared, what was set, or what runs. */
  public enum Kind { DECLARED, SET, RUNNING }

  public RemoteException(Kind kind, RemoteTable table, String what, String cure, Throwable cause) {
    super(kind.name().toLowerCase(java.util.Locale.ROOT) + ": " + oneLine(table.told() + " " + what) + "; at: " + table.where() + "; cure: "
        + oneLine(cure), cause);
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s*\\R\\s*", " ");
  }
}
