package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.aggregate.Slots;
import headrace.aggregate.Span;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * The first rows of each key, without windows: after every epoch, how they have changed.
 *
 * <p>A key that has had no row for as long as the step remembers is forgotten, and its rows are taken back, so that changes add up to what
 * is kept; a row older than that is late. The end of time forgets nothing: what stands then is the result. Body: the accumulators.
 */
public final class Ranking extends KeyedStep<Slots> {
  private static final long ALL = 0;
  private static final byte[][] NOTHING = {};

  private final Layout layout;
  private final Span span;
  private final RankingWriter writer;
  private final Partials gathered;
  private final List<Output> changes = new ArrayList<>();

  public Ranking(Program program) {
    super(program, program.layout());
    layout = program.layout();
    span = (Span) layout.aggregate(layout.size() - 1);
    writer = new RankingWriter(program, layout);
    gathered = new Partials(layout, 64);
  }

  @Override
  public void open(Context opened) {
    super.open(opened);
    gathered.clear();
  }

  @Override
  public void onPartials(Position position, long slice, byte[] entries) {
    context.used(gathered.addAll(ALL, entries));
  }

  @Override
  void take(UnsafeRow exit, Position position) {
    if (program.forgets(position.time, judged)) {
      late(exit, position, position.time);
      return;
    }
    context.used(1);
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size());
    int hash = Partials.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    gathered.add(ALL, hash, key, exit.getStruct(Program.EXIT_INPUTS, program.inputs().size()), position);
  }

  @Override
  public void close() {
    UnsafeRow key = new UnsafeRow(program.key().size());
    for (int entry = 0; entry < gathered.size(); entry++) {
      Slots slots = layout.scratch();
      layout.merge(slots, gathered.slots(entry));
      gathered.key(entry, key);
      bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), slots);
    }
    super.close();
  }

  @Override
  public long begin(Partials batch, int entry, ByteWriter out) {
    batch.key(entry, writer.key());
    return super.begin(batch, entry, out);
  }

  @Override
  public long merge(ByteReader history, Partials batch, int entry, ByteWriter out) {
    batch.key(entry, writer.key());
    return super.merge(history, batch, entry, out);
  }

  @Override
  long join(ByteReader history, List<Slots> brought, ByteWriter out) {
    Slots slots = layout.scratch();
    if (history != null) {
      layout.read(slots, history);
    }
    byte[][] before = writer.rows(slots);
    brought.forEach(each -> layout.merge(slots, each));
    changes.clear();
    if (isForgotten(slots)) {
      // Rows of a step before may be older than the time that has come meanwhile: the look that follows forgets the key.
      writer.changes(before, NOTHING, context, changes);
      changes.forEach(context::emit);
      layout.write(layout.scratch(), out);
      return Context.NO_WATERMARK;
    }
    writer.changes(before, writer.rows(slots), context, changes);
    changes.forEach(context::emit);
    layout.write(slots, out);
    return program.remembered(span.last(slots));
  }

  @Override
  long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given) {
    Slots slots = layout.scratch();
    layout.read(slots, history);
    if (layout.rows(slots) > 0 && !isForgotten(slots)) {
      layout.write(slots, out);
      return program.remembered(span.last(slots));
    }
    writer.key().pointTo(content, address, length);
    writer.changes(writer.rows(slots), NOTHING, context, given);
    return NEVER;
  }

  private boolean isForgotten(Slots slots) {
    return header.watermark != Context.END && program.forgets(span.last(slots), header.watermark);
  }
}
