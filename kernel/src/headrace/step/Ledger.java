package headrace.step;

import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * The ledger of events of one step: how many rows came, and what became of them. Over an epoch {@code in = used + late + duplicate +
 * rejected}, exactly.
 *
 * <p>Who sends rows to a step counts those that came, the step counts the rest; both write a line that travels with the results, so that
 * a task that runs twice counts once. With the rows that came goes which keys many of them have, as far as a sample shows it.
 */
public final class Ledger implements Serializable {
  private static final long serialVersionUID = 1;
  private static final double HOT_SHARE = 0.1;
  private static final long FEW_ROWS = 1_000;

  public long in;
  public long used;
  public long late;
  public long duplicate;
  public long rejected;
  /** Partial results that a step gave up, since a key had too many of them: no rows, and in no balance. */
  public long givenUp;
  /** Keys that many rows have, as JSON, each with how many have it at least. */
  private final TreeMap<String, Long> hot = new TreeMap<>();

  /** A key that a tenth of a step's rows have, or more. */
  public record Hot(String key, double share) {}

  public boolean isEmpty() {
    return in == 0 && used == 0 && late == 0 && duplicate == 0 && rejected == 0 && givenUp == 0;
  }

  public boolean closes() {
    return in == used + late + duplicate + rejected;
  }

  public void add(Ledger other) {
    in += other.in;
    used += other.used;
    late += other.late;
    duplicate += other.duplicate;
    rejected += other.rejected;
    givenUp += other.givenUp;
    other.hot.forEach(this::hot);
  }

  /** Notes that so many rows have a key. */
  public void hot(String key, long rows) {
    hot.merge(key, rows, Long::sum);
  }

  /** The keys that so many rows have that they hold a step up, the hottest first; of few rows none is told. */
  public List<Hot> hot() {
    List<Hot> found = new ArrayList<>();
    if (in >= FEW_ROWS) {
      hot.forEach((key, rows) -> {
        double share = Math.min(1, (double) rows / in);
        if (share >= HOT_SHARE) {
          found.add(new Hot(key, share));
        }
      });
    }
    found.sort(Comparator.comparingDouble(Hot::share).reversed());
    return found;
  }

  /** The line of a program: its number, the counts, and keys that many rows have. */
  public byte[] write(int program) {
    ByteWriter out = new ByteWriter(32);
    out.writeUnsigned(program);
    out.writeUnsigned(in);
    out.writeUnsigned(used);
    out.writeUnsigned(late);
    out.writeUnsigned(duplicate);
    out.writeUnsigned(rejected);
    out.writeUnsigned(givenUp);
    hot.forEach((key, rows) -> {
      out.writeBytes(key.getBytes(StandardCharsets.UTF_8));
      out.writeUnsigned(rows);
    });
    return out.toBytes();
  }

  /** The program that a line is of. */
  public static int program(byte[] line) {
    return new ByteReader().over(line).readLength();
  }

  public void add(byte[] line) {
    ByteReader reader = new ByteReader().over(line);
    reader.readLength();
    in += reader.readUnsigned();
    used += reader.readUnsigned();
    late += reader.readUnsigned();
    duplicate += reader.readUnsigned();
    rejected += reader.readUnsigned();
    givenUp += reader.readUnsigned();
    while (reader.hasRemaining()) {
      String key = new String(reader.readBytes(), StandardCharsets.UTF_8);
      hot(key, reader.readUnsigned());
    }
  }

  /** The counts for people and programs. */
  public void put(ObjectNode json) {
    json.put("in", in).put("used", used).put("late", late).put("duplicate", duplicate).put("rejected", rejected);
    if (givenUp > 0) {
      json.put("given_up", givenUp);
    }
  }

  @Override
  public String toString() {
    return in + " in = " + used + " used + " + late + " late + " + duplicate + " duplicate + " + rejected + " rejected";
  }
}
