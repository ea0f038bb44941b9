package headrace.postgres;

import java.sql.SQLException;
import java.util.Set;

/** What a PostgreSQL says of failures that pass by themselves: another try, on a new connection, may go well. */
public final class Passing {
  /** Connections that were refused or lost. */
  private static final String CONNECTION = "08";

  /** The driver's word where it has no password, or not the encryption that is wanted: that stays. */
  private static final String REJECTED = "08004";

  private static final Set<String> STATES = Set.of(
      // The server stops, has crashed, or starts; the database or an idle session was ended.
      "57P01", "57P02", "57P03", "57P04", "57P05",
      // This session was ended, since its driver hung in the middle of a transaction.
      "25P03",
      // No connection is left.
      "53300",
      // A transaction that has lost against another.
      "40001", "40P01");

  private Passing() {}

  /** Whether a failure is one of those. */
  public static boolean is(SQLException failure) {
    String state = failure.getSQLState();
    return state != null && !state.equals(REJECTED) && (state.startsWith(CONNECTION) || STATES.contains(state));
  }
}
