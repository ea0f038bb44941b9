package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Moves;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.aggregate.Slots;
import headrace.aggregate.Unfit;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Header;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A table of groups of another table's rows, each with its aggregates. A group without rows is gone.
 *
 * <p>All that an epoch brings and takes back is added up before a group is looked at, so that what it gives is the difference between two
 * epochs and nothing in between. Body of a group: its accumulators.
 */
final class Groups implements Step, Pages.Body {
  private static final int EXPECTED = 64;
  /** Due at once: a group that has become empty goes in the epoch in which it did. */
  private static final long NOW = Long.MIN_VALUE;

  private final Program program;
  private final Layout layout;
  private final Moves moves;
  private final Slots state;
  private final Pages pages = new Pages(this);
  private final Partials batch;
  private final ChangeWriter changes;
  private final UnsafeRow exit = new UnsafeRow(TableSpec.EXIT_FIELDS);
  private final UnsafeRow key;
  private final StructField[] keys;
  /** Where in a row each aggregate is: state has them in the order of their slots, rows as they are declared. */
  private final int[] places;
  private final ByteWriter page = new ByteWriter(4096);
  private UnsafeProjection row;
  private UnsafeProjection rejected;
  private byte[] stored;
  private Context context;
  private Header header;

  Groups(Program program) {
    this.program = program;
    layout = program.layout();
    moves = (Moves) layout.aggregate(layout.size() - 1);
    state = layout.scratch();
    batch = new Partials(layout, EXPECTED);
    changes = new ChangeWriter(program.output());
    keys = program.key().fields();
    key = new UnsafeRow(keys.length);
    places = program.aggregates().stream().mapToInt(each -> ChangeWriter.row(program.output()).fieldIndex(each.name())).toArray();
  }

  @Override
  public void open(Context opened) {
    context = opened;
    batch.clear();
    stored = context.cells().header();
    header = Header.read(stored, layout.slots(), program.name());
  }

  @Override
  public void onPartials(Position position, long slice, byte[] entries) {
    batch.addAll(slice, entries);
  }

  @Override
  public void onRow(int side, Position position, UnsafeRow given) {
    exit.pointTo(given.getBaseObject(), given.getBaseOffset(), given.getSizeInBytes());
    position.at(exit.getLong(Program.EXIT_TIME), position.source, position.partition, position.offset);
    UnsafeRow of = exit.getStruct(Program.EXIT_KEY, keys.length);
    UnsafeRow inputs = exit.getStruct(Program.EXIT_INPUTS, program.inputs().size());
    int hash = Partials.hash(of.getBaseObject(), of.getBaseOffset(), of.getSizeInBytes());
    if (exit.getInt(TableSpec.EXIT_SIGN) < 0) {
      batch.retract(TableSpec.PART, hash, of, inputs, position);
    } else {
      batch.add(TableSpec.PART, hash, of, inputs, position);
    }
  }

  /** What a table is does not depend on time. */
  @Override
  public void onTick(long watermark, long processed) {}

  @Override
  public void close() {
    Header.Part part = header.part(TableSpec.PART);
    if (batch.size() > 0) {
      for (int entry = 0; entry < batch.size(); entry++) {
        context.used(moves.count(batch.slots(entry)));
      }
      pages.merge(context.cells(), TableSpec.PART, part, batch);
      for (int number = 0; number < part.pages; number++) {
        if (part.due(number) == NOW) {
          sweep(number, part);
        }
      }
      part.dirty.clear();
    }
    if (part.keys == 0) {
      header.parts.remove(TableSpec.PART);
    }
    header.store(context.cells(), stored);
    context = null;
  }

  /** Takes the groups that have nothing left out of a page. */
  private void sweep(int number, Header.Part part) {
    byte[] content = pages.get(context.cells(), TableSpec.PART, number);
    part.due(number, NEVER);
    if (content == null) {
      return;
    }
    page.clear();
    page.writeByte(Partials.VERSION);
    int empty = page.size();
    ByteReader in = Partials.open(content);
    while (in.hasRemaining()) {
      int from = in.position();
      in.skip(in.readLength());
      int length = in.readLength();
      in.skip(length);
      if (length == 0) {
        part.keys--;
      } else {
        page.writeRaw(content, from, in.position() - from);
      }
    }
    if (page.size() == empty) {
      pages.remove(context.cells(), TableSpec.PART, number, part, content);
    } else if (page.size() != content.length) {
      pages.put(context.cells(), TableSpec.PART, number, part, content, page.toBytes());
    }
  }

  @Override
  public long begin(Partials brought, int entry, ByteWriter out) {
    layout.clear(state);
    return settle(brought, entry, null, out);
  }

  @Override
  public long merge(ByteReader history, Partials brought, int entry, ByteWriter out) {
    layout.clear(state);
    layout.read(state, history);
    brought.key(entry, key);
    return settle(brought, entry, row(), out);
  }

  private long settle(Partials brought, int entry, byte[] before, ByteWriter out) {
    brought.key(entry, key);
    boolean unfitBefore = before != null && isUnfit();
    layout.merge(state, brought.slots(entry));
    long rows = layout.rows(state);
    if (rows < 0) {
      throw new IllegalStateException("step '" + program.name() + "': the group " + shownKey() + " was to give back " + -rows
          + " rows more than it has; do its expressions give another value when they are computed again?");
    }
    byte[] after = rows == 0 ? null : row();
    long time = moves.latest(state);
    byte[] change = changes.change(before, after);
    if (change != null) {
      context.emit(new Output(program.port(), time, -program.id(), context.group(), context.number(), change));
    }
    if (rows == 0) {
      return NOW;
    }
    if (!unfitBefore) {
      unfit(time);
    }
    moves.forget(state);
    layout.write(state, out);
    return NEVER;
  }

  private byte[] row() {
    Object[] values = new Object[keys.length + places.length];
    for (int i = 0; i < keys.length; i++) {
      values[i] = key.isNullAt(i) ? null : key.get(i, keys[i].dataType());
    }
    for (int i = 0; i < places.length; i++) {
      Object result = layout.aggregate(i).result(state);
      values[places[i]] = result instanceof Unfit ? null : result;
    }
    if (row == null) {
      row = UnsafeProjection.create(ChangeWriter.row(program.output()));
    }
    return row.apply(new GenericInternalRow(values)).copy().getBytes();
  }

  private boolean isUnfit() {
    for (int i = 0; i < program.aggregates().size(); i++) {
      if (layout.aggregate(i).result(state) instanceof Unfit) {
        return true;
      }
    }
    return false;
  }

  /** Says aloud what a group's row cannot give, once: when it no longer can. */
  private void unfit(long time) {
    for (int i = 0; i < program.aggregates().size(); i++) {
      if (program.rejectedPort() != null && layout.aggregate(i).result(state) instanceof Unfit unfit) {
        Object[] values = new Object[Program.REJECTED.size()];
        values[6] = UTF8String.fromString(program.name());
        values[7] = UTF8String.fromString(program.aggregates().get(i).reason(unfit) + " for key " + shownKey());
        if (rejected == null) {
          rejected = UnsafeProjection.create(Program.REJECTED);
        }
        byte[] payload = rejected.apply(new GenericInternalRow(values)).copy().getBytes();
        context.emit(new Output(program.rejectedPort(), time, -program.id(), context.group(), context.number(), payload));
      }
    }
  }

  private String shownKey() {
    StringBuilder shown = new StringBuilder("{");
    for (int i = 0; i < keys.length; i++) {
      shown.append(i == 0 ? "" : ", ").append(keys[i].name()).append('=')
          .append(key.isNullAt(i) ? null : key.get(i, keys[i].dataType()));
    }
    return shown.append('}').toString();
  }

  @Override
  public long size(Partials brought, int entry) {
    return brought.size(entry);
  }
}
