package headrace.aggregate;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** The accumulators of one step side by side: the number of rows, then each aggregate's numbers and objects. */
public final class Layout {
  private static final int ROWS = 0;
  private final Aggregate[] aggregates;
  private final int words;
  private final int objects;

  public Layout(List<Aggregate> aggregates) {
    this.aggregates = aggregates.toArray(new Aggregate[0]);
    int word = 1;
    int object = 0;
    for (Aggregate aggregate : this.aggregates) {
      aggregate.place(word, object);
      word += aggregate.words();
      object += aggregate.objects();
    }
    words = word;
    objects = object;
  }

  public static Layout of(List<AggregateSpec> specs) {
    return new Layout(specs.stream().map(AggregateSpec::build).toList());
  }

  /** A layout that also says when its events were. */
  public static Layout spanning(List<AggregateSpec> specs, Span span) {
    List<Aggregate> aggregates = new ArrayList<>(specs.stream().map(AggregateSpec::build).toList());
    aggregates.add(span);
    return new Layout(aggregates);
  }

  /** A layout of rows that come and are taken back; it also says how many did. */
  public static Layout moving(List<AggregateSpec> specs, Moves moves) {
    List<Aggregate> aggregates = new ArrayList<>(specs.stream().map(AggregateSpec::build).toList());
    aggregates.add(moves);
    return new Layout(aggregates);
  }

  public int words() {
    return words;
  }

  public int objects() {
    return objects;
  }

  public int size() {
    return aggregates.length;
  }

  public Aggregate aggregate(int index) {
    return aggregates[index];
  }

  /** What the stored bytes hold, in order: it is kept beside them. */
  public String slots() {
    return List.of(aggregates).stream().map(one -> one.name() + "=" + one.codec()).collect(Collectors.joining(", "));
  }

  /** A cursor over slots of its own. */
  public Slots scratch() {
    return new Slots().at(new long[words], 0, new Object[objects], 0);
  }

  public void clear(Slots slots) {
    java.util.Arrays.fill(slots.words, slots.word, slots.word + words, 0L);
    java.util.Arrays.fill(slots.objects, slots.object, slots.object + objects, null);
  }

  public void add(Slots slots, UnsafeRow inputs, Position position) {
    slots.words[slots.word + ROWS]++;
    for (Aggregate aggregate : aggregates) {
      aggregate.add(slots, inputs, position);
    }
  }

  /** Takes a row back that was added. */
  public void retract(Slots slots, UnsafeRow inputs, Position position) {
    slots.words[slots.word + ROWS]--;
    for (Aggregate aggregate : aggregates) {
      aggregate.retract(slots, inputs, position);
    }
  }

  public void merge(Slots into, Slots from) {
    into.words[into.word + ROWS] += from.words[from.word + ROWS];
    for (Aggregate aggregate : aggregates) {
      aggregate.merge(into, from);
    }
  }

  public void write(Slots slots, ByteWriter out) {
    out.writeUnsigned(slots.words[slots.word + ROWS]);
    for (Aggregate aggregate : aggregates) {
      aggregate.write(slots, out);
    }
  }

  public void read(Slots slots, ByteReader in) {
    slots.words[slots.word + ROWS] = in.readUnsigned();
    for (Aggregate aggregate : aggregates) {
      aggregate.read(slots, in);
    }
  }

  /** How many rows are in. */
  public long rows(Slots slots) {
    return slots.words[slots.word + ROWS];
  }
}
