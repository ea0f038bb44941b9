package headrace.aggregate;

/** When an event happened and where it was read: the order of events that no shuffle can change. */
public final class Position {
  public long time;
  public int source;
  public int partition;
  public long offset;

  public Position at(long time, int source, int partition, long offset) {
    this.time = time;
    this.source = source;
    this.partition = partition;
    this.offset = offset;
    return this;
  }
}
