package headrace.expression;

import org.apache.spark.TaskKilledException;
import org.apache.spark.unsafe.types.UTF8String;

/** What a row's failure is called in the reason column: one line, without the stack. */
public final class Failure {
  private static final int LONGEST = 500;

  private Failure() {}

  /**
   * The reason in a line. What says nothing about the row (the task is killed, memory is out, a
   * class is missing) is raised again.
   */
  public static String reason(Throwable raised) {
    if (raised instanceof StackOverflowError) {
      // Deep recursion is the row's doing: a regular expression over a long text, for one.
      return "StackOverflowError: the expression is too deep for this row";
    }
    if (raised instanceof Error
        || raised instanceof InterruptedException
        || raised instanceof TaskKilledException
        || raised instanceof scala.util.control.ControlThrowable) {
      throw Failure.<RuntimeException>unchecked(raised);
    }
    if (raised instanceof Demand.Refused) {
      return raised.getMessage();
    }
    String message = firstLine(raised.getMessage());
    boolean named = message.startsWith("[");
    String name = raised.getClass().getSimpleName();
    return bounded(named ? message : message.isEmpty() ? name : name + ": " + message);
  }

  /** Raises an error that has been put into words already; null for none. */
  public static void raise(UTF8String reason) {
    if (reason != null) {
      throw new Demand.Refused(reason.toString());
    }
  }

  /** At most so many characters, never half of a surrogate pair. */
  private static String bounded(String text) {
    if (text.length() <= LONGEST) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(LONGEST - 2)) ? LONGEST - 2 : LONGEST - 1;
    return text.substring(0, end) + "…";
  }

  /** Spark's messages go on with the SQL or the call that they come from: that is not the row's. */
  private static String firstLine(String message) {
    return message == null ? "" : message.strip().lines().findFirst().orElse("").strip();
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> T unchecked(Throwable raised) throws T {
    throw (T) raised;
  }
}
