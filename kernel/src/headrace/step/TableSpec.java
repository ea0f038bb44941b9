package headrace.step;

/**
 * What a step does that makes a table, or works on one.
 *
 * <p>A table's changes leave a step as rows of {@code struct<before, after>}, one per key and epoch: before is null for a row that is new,
 * after for one that is gone, and the two are never equal.
 *
 * @param folding what a fold computes, null for others
 * @param joining what a join gives, null for others
 * @param byOffset whether rows of one partition follow each other in the order of the partition, whatever their times are
 */
public record TableSpec(Kind kind, boolean byOffset, Folding folding, Joining joining) {
  /**
   * What a fold computes, see {@link headrace.expression.Compiled}.
   *
   * @param initial the state that a key begins with
   * @param step the next state, of the structs state and row
   * @param shown a row as it is rejected, of the same
   * @param topic the topic that rejected rows are told to be of
   * @param fails whether a row on which the step fails stops the pipeline
   */
  public record Folding(String initial, String step, String shown, String topic, boolean fails) {}

  /**
   * What a join gives.
   *
   * @param left whether left rows that meet nothing are given
   * @param right whether right rows that meet nothing are given
   * @param columns where each column of a result is among those of the key, of the left row and of the right row
   * @param primary where in a result its primary key is
   */
  public record Joining(boolean left, boolean right, int[] columns, int[] primary) {
    /** Whether the rows of a side are given that meet nothing. */
    boolean keeps(int side) {
      return side == 0 ? left : right;
    }
  }

  /** The field of an exit that says whether the row comes (1) or is taken back (-1); behind those of {@link Program}. */
  public static final int EXIT_SIGN = Program.EXIT_FIELDS;
  public static final int EXIT_FIELDS = Program.EXIT_FIELDS + 1;

  /** The one part that a table's state is in. */
  public static final long PART = 0;

  /** The fields of a change. */
  public static final int BEFORE = 0;
  public static final int AFTER = 1;

  public enum Kind {
    /** The last row of each key is the table. */
    LATEST,
    /** Groups of a table's rows, each with its aggregates, are the table. */
    GROUPS,
    /** A state of each key, made of its rows one after another, is the table. */
    FOLD,
    /** The changes of a table, numbered per key, are a stream. */
    CHANGES,
    /** The rows of two tables that have equal keys are the table. */
    JOIN,
    /** Changes that came in two halves are made one. */
    NETTED
  }
}
