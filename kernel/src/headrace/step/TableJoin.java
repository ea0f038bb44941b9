package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Two tables joined: for each key the rows of both sides are held, and what an epoch changes is the difference between the joined rows
 * before it and after it.
 *
 * <p>All changes of both sides are there before anything is joined, so that nothing in between is ever seen. Only results with a row that
 * changed are made, and those of rows that met nothing before or meet nothing now. A row is the whole of its primary key and its columns:
 * it is taken back by its bytes. A key with a null in it equals nothing, so its rows are given as they come, and never held. Body: for each
 * side the number of rows, and the rows.
 */
final class TableJoin extends KeyedStep<TableJoin.Moved> {
  /** A row of a side that came or was taken back, and when. */
  record Moved(int side, boolean back, long time, UnsafeRow key, ByteBuffer row) {}

  /** The rows of one side: those that went, those that stay, those that came. */
  private record Rows(List<byte[]> went, List<byte[]> stay, List<byte[]> came) {
    boolean hadSome() {
      return !went.isEmpty() || !stay.isEmpty();
    }

    boolean hasSome() {
      return !came.isEmpty() || !stay.isEmpty();
    }
  }

  private static final Rows NONE = new Rows(List.of(), List.of(), List.of());
  private static final int SIDES = 2;
  private static final int LEFT = 0;
  private static final int RIGHT = 1;
  /** At once: a key that has no rows left goes in the epoch in which they did. */
  private static final long NOW = Long.MIN_VALUE;

  private final UnsafeRow exit = new UnsafeRow(TableSpec.EXIT_FIELDS);
  private final TableSpec.Joining joining;
  private final JoinedChanges results;
  private int side;

  TableJoin(Program program) {
    super(program, new Layout(List.of()));
    joining = program.table().joining();
    results = new JoinedChanges(program);
  }

  @Override
  public void onRow(int from, Position position, UnsafeRow given) {
    side = from;
    super.onRow(from, position, given);
  }

  @Override
  void take(UnsafeRow given, Position position) {
    context.used(1);
    exit.pointTo(given.getBaseObject(), given.getBaseOffset(), given.getSizeInBytes());
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size()).copy();
    if (key.anyNull() && !joining.keeps(side)) {
      return;
    }
    byte[] row = exit.getStruct(Program.EXIT_ROW, program.sides().get(side).row().size()).copy().getBytes();
    boolean back = exit.getInt(TableSpec.EXIT_SIGN) < 0;
    bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(),
        new Moved(side, back, position.time, key, ByteBuffer.wrap(row)));
  }

  @Override
  long join(ByteReader history, List<Moved> brought, ByteWriter out) {
    UnsafeRow key = brought.get(0).key;
    boolean unknown = key.anyNull();
    Rows left = rows(LEFT, history, brought, unknown);
    Rows right = rows(RIGHT, history, brought, unknown);
    results.begin(key);
    if (unknown) {
      alone(LEFT, left.went, false);
      alone(LEFT, left.came, true);
      alone(RIGHT, right.went, false);
      alone(RIGHT, right.came, true);
    } else {
      meet(left, right);
    }
    long time = brought.stream().mapToLong(Moved::time).max().orElseThrow();
    results.give(context, time);
    boolean held = !unknown && (left.hasSome() || right.hasSome());
    write(held ? left : NONE, out);
    write(held ? right : NONE, out);
    return held ? NEVER : NOW;
  }

  private void meet(Rows left, Rows right) {
    results.pairs(left.went, right.went, false);
    results.pairs(left.went, right.stay, false);
    results.pairs(left.stay, right.went, false);
    results.pairs(left.came, right.came, true);
    results.pairs(left.came, right.stay, true);
    results.pairs(left.stay, right.came, true);
    alone(LEFT, left, right);
    alone(RIGHT, right, left);
  }

  /** The results of rows that met nothing, or meet nothing now. */
  private void alone(int of, Rows rows, Rows others) {
    if (!joining.keeps(of)) {
      return;
    }
    if (!others.hadSome()) {
      alone(of, rows.went, false);
    }
    if (!others.hasSome()) {
      alone(of, rows.came, true);
    }
    if (others.hadSome() != others.hasSome()) {
      alone(of, rows.stay, others.hadSome());
    }
  }

  private void alone(int of, List<byte[]> rows, boolean now) {
    for (byte[] row : rows) {
      results.add(of == LEFT ? row : null, of == RIGHT ? row : null, now);
    }
  }

  /** What becomes of a side's rows; those with an unknown key are not held, so that what goes is not looked for. */
  private Rows rows(int of, ByteReader history, List<Moved> brought, boolean unknown) {
    Map<ByteBuffer, Integer> moved = new LinkedHashMap<>();
    for (Moved each : brought) {
      if (each.side == of) {
        moved.merge(each.row, each.back ? -1 : 1, Integer::sum);
      }
    }
    moved.values().removeIf(times -> times == 0);
    Rows rows = new Rows(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (int left = history == null ? 0 : history.readLength(); left > 0; left--) {
      byte[] row = history.readBytes();
      boolean went = !moved.isEmpty() && moved.remove(ByteBuffer.wrap(row), -1);
      (went ? rows.went : rows.stay).add(row);
    }
    moved.forEach((row, times) -> {
      if (times == 1) {
        rows.came.add(row.array());
      } else if (times == -1 && unknown) {
        rows.went.add(row.array());
      } else {
        throw new IllegalStateException("step '" + program.name() + "': " + (times < 0 ? "a row was to be taken back that never came"
            : "a row came twice") + "; do the expressions before it give another value when they are computed again?");
      }
    });
    return rows;
  }

  private static void write(Rows rows, ByteWriter out) {
    out.writeUnsigned(rows.stay.size() + (long) rows.came.size());
    rows.stay.forEach(out::writeBytes);
    rows.came.forEach(out::writeBytes);
  }

  /** A page is looked at when one of its keys has no rows any more: the others stay as they are. */
  @Override
  long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given) {
    int from = history.position();
    int rows = 0;
    for (int of = 0; of < SIDES; of++) {
      for (int left = history.readLength(); left > 0; left--) {
        history.skip(history.readLength());
        rows++;
      }
    }
    if (rows > 0) {
      out.writeRaw(content, from, history.position() - from);
    }
    return NEVER;
  }

  @Override
  public long size(Partials batch, int entry) {
    return 16L + program.sides().stream().mapToInt(each -> each.row().defaultSize()).max().orElse(0);
  }
}
