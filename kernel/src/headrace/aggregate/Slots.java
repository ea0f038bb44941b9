package headrace.aggregate;

/** Where the accumulators of one key lie: a stretch of numbers and a stretch of objects in shared arrays. A cursor, moved and not allocated. */
public final class Slots {
  public long[] words;
  public int word;
  public Object[] objects;
  public int object;
  /** About how much memory values have taken through this cursor, beside the slots themselves. */
  public long grown;

  public Slots at(long[] words, int word, Object[] objects, int object) {
    this.words = words;
    this.word = word;
    this.objects = objects;
    this.object = object;
    return this;
  }
}
