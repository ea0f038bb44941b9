package headrace.step;

import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.io.Serializable;

/**
 * The ledger of events of one step: how many rows came, and what became of them. Over an epoch {@code in = used + late + duplicate +
 * rejected}, exactly.
 *
 * <p>Who sends rows to a step counts those that came, the step counts the rest; both write a line that travels with the results, so that
 * a task that runs twice counts once.
 */
public final class Ledger implements Serializable {
  private static final long serialVersionUID = 1;

  public long in;
  public long used;
  public long late;
  public long duplicate;
  public long rejected;
  /** Partial results that a step gave up, since a key had too many of them: no rows, and in no balance. */
  public long givenUp;

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
  }

  /** The line of a program: its number, and the counts. */
  public byte[] write(int program) {
    ByteWriter out = new ByteWriter(32);
    out.writeUnsigned(program);
    out.writeUnsigned(in);
    out.writeUnsigned(used);
    out.writeUnsigned(late);
    out.writeUnsigned(duplicate);
    out.writeUnsigned(rejected);
    out.writeUnsigned(givenUp);
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
