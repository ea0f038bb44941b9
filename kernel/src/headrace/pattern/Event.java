package headrace.pattern;

/** An event of a key in its order, and where its row lies in bytes that it does not own. */
public final class Event {
  public final long time;
  /** Its conditions: which of those of the pattern it fulfils. */
  final long fulfils;
  private final byte[] bytes;
  private final int at;
  private final int length;
  /** Orders the events of a key. */
  long number;
  /** Its place in the bytes of the key, while these are written. */
  int place;

  public Event(long time, long fulfils, byte[] bytes, int at, int length) {
    this.time = time;
    this.fulfils = fulfils;
    this.bytes = bytes;
    this.at = at;
    this.length = length;
  }

  public byte[] bytes() {
    return bytes;
  }

  public int at() {
    return at;
  }

  public int length() {
    return length;
  }
}
