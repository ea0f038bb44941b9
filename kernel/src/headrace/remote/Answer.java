package headrace.remote;

/**
 * What a remote table says of a key.
 *
 * @param row the packed columns, null where there is no row
 * @param reason why there is a row that cannot be used, else null
 */
public record Answer(byte[] row, String reason) {
  public static final Answer NOTHING = new Answer(null, null);
}
