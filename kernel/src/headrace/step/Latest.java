package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * A table of the last row of each key: by (event time, position), and among rows of one partition of a topic by the partition's own order.
 *
 * <p>So what a key has is the last row of each partition, and of these the latest is in the table. A row of null is a tombstone: where it
 * is the latest there is no row. It is remembered until the watermark has passed it, since an older row may still come in another
 * partition; then the key is forgotten. Body: number of versions, and for each its time, its position and its row.
 */
final class Latest extends KeyedStep<Latest.Version> {
  /** A row, null for a tombstone, and when and where it was. */
  record Version(long time, int source, int partition, long offset, byte[] row) {}

  private static final Comparator<Version> BY_TIME = Comparator.comparingLong(Version::time).thenComparingInt(Version::source)
      .thenComparingInt(Version::partition).thenComparingLong(Version::offset);

  private final ChangeWriter changes;
  private final boolean byOffset;

  Latest(Program program) {
    super(program, new Layout(List.of()));
    changes = new ChangeWriter(program.output());
    byOffset = program.table().byOffset();
  }

  @Override
  void take(UnsafeRow exit, Position position) {
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size());
    byte[] row = exit.isNullAt(Program.EXIT_ROW) ? null
        : exit.getStruct(Program.EXIT_ROW, program.row().size()).copy().getBytes();
    // Tables have no lateness: a row older than the one that is held is used up all the same.
    context.used(1);
    bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(),
        new Version(position.time, position.source, position.partition, position.offset, row));
  }

  @Override
  long join(ByteReader history, List<Version> brought, ByteWriter out) {
    List<Version> versions = history == null ? new ArrayList<>() : read(history);
    Version before = versions.stream().max(BY_TIME).orElse(null);
    brought.forEach(version -> enter(versions, version));
    Version after = versions.stream().max(BY_TIME).orElseThrow();
    byte[] change = changes.change(before == null ? null : before.row, after.row);
    if (change != null) {
      context.emit(new Output(program.port(), after.time, after.source, after.partition, after.offset, change));
    }
    write(versions, out);
    return due(after);
  }

  private void enter(List<Version> versions, Version version) {
    for (int i = 0; i < versions.size(); i++) {
      Version known = versions.get(i);
      if (!byOffset || known.source == version.source && known.partition == version.partition) {
        boolean follows = byOffset ? version.offset > known.offset : BY_TIME.compare(version, known) > 0;
        versions.set(i, follows ? version : known);
        return;
      }
    }
    versions.add(version);
  }

  @Override
  long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given) {
    List<Version> versions = read(history);
    long due = due(versions.stream().max(BY_TIME).orElseThrow());
    if (due > header.watermark) {
      write(versions, out);
    }
    return due > header.watermark ? due : NEVER;
  }

  /** When a deleted key can be forgotten. */
  private static long due(Version latest) {
    return latest.row != null || latest.time == Long.MAX_VALUE ? NEVER : latest.time + 1;
  }

  private static List<Version> read(ByteReader in) {
    int count = in.readLength();
    List<Version> versions = new ArrayList<>(count + 1);
    for (int i = 0; i < count; i++) {
      long time = in.readSigned();
      int source = (int) in.readSigned();
      int partition = (int) in.readSigned();
      long offset = in.readSigned();
      versions.add(new Version(time, source, partition, offset, in.readByte() == 0 ? null : in.readBytes()));
    }
    return versions;
  }

  private static void write(List<Version> versions, ByteWriter out) {
    out.writeUnsigned(versions.size());
    for (Version version : versions) {
      out.writeSigned(version.time);
      out.writeSigned(version.source);
      out.writeSigned(version.partition);
      out.writeSigned(version.offset);
      out.writeByte(version.row == null ? 0 : 1);
      if (version.row != null) {
        out.writeBytes(version.row);
      }
    }
  }

  @Override
  public long size(headrace.aggregate.Partials batch, int entry) {
    return 32L + program.row().defaultSize();
  }
}
