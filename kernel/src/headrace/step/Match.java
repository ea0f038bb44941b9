package headrace.step;

import java.util.Comparator;

/** A result of a join before it is a row: two rows that belong together, or one row alone, and when it is. */
record Match(long time, JoinRow left, JoinRow right) {
  private static final Comparator<JoinRow> PLACES = Comparator.nullsFirst(JoinRow.BY_PLACE);

  /** What comes of an epoch is put into this order, which no shuffle can change. */
  static final Comparator<Match> ORDER = Comparator.comparingLong(Match::time).thenComparing(Match::left, PLACES)
      .thenComparing(Match::right, PLACES);

  static Match of(JoinRow left, JoinRow right) {
    return new Match(Math.max(left.time, right.time), left, right);
  }
}
