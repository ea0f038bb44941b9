package headrace.step;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import org.junit.jupiter.api.Test;

class RowRunTest {
  private static final Events.Event FIRST = new Events.Event("a card", 5, 1_000, 2, 30);
  private static final Events.Event SECOND = new Events.Event("another card of some length", 7, 2_000, 1, 10);

  private static UnsafeRow exit(Events.Event event) {
    byte[] bytes = Events.exit(event);
    UnsafeRow row = new UnsafeRow(Program.EXIT_FIELDS);
    row.pointTo(bytes, bytes.length);
    return row;
  }

  private static byte[] run(boolean whole, Events.Event... events) {
    ByteWriter out = new ByteWriter(16);
    RowRun.begin(out);
    RowRun run = new RowRun();
    for (Events.Event event : events) {
      run.add(out, new Position().at(event.time(), 3, event.partition(), event.offset()), exit(event), whole);
    }
    return out.toBytes();
  }

  /** Points a row at the next exit of a run, whose place must be the event's. */
  private static UnsafeRow next(ByteReader in, Events.Event event) {
    assertEquals(Partials.place(3, event.partition()), in.readFixed());
    assertEquals(event.offset(), in.readFixed());
    int length = (int) in.readFixed();
    UnsafeRow row = new UnsafeRow(Program.EXIT_FIELDS);
    row.pointTo(in.array(), Platform.BYTE_ARRAY_OFFSET + (long) in.position(), length);
    in.skip(length);
    return row;
  }

  @Test
  void rowsComeBackAsTheyWent() {
    ByteReader in = RowRun.open(run(true, FIRST, SECOND));
    assertArrayEquals(Events.exit(FIRST), next(in, FIRST).getBytes());
    assertArrayEquals(Events.exit(SECOND), next(in, SECOND).getBytes());
    assertFalse(in.hasRemaining());
  }

  @Test
  void aRowThatNobodyAsksForStaysBehindAndTheRestComesBack() {
    byte[] cut = run(false, FIRST, SECOND);
    assertTrue(cut.length < run(true, FIRST, SECOND).length);
    ByteReader in = RowRun.open(cut);
    for (Events.Event event : new Events.Event[] {FIRST, SECOND}) {
      UnsafeRow row = next(in, event);
      assertTrue(row.isNullAt(Program.EXIT_ROW));
      assertEquals(event.time(), row.getLong(Program.EXIT_TIME));
      assertEquals(exit(event).getStruct(Program.EXIT_KEY, 1), row.getStruct(Program.EXIT_KEY, 1));
      assertEquals(event.amount(), row.getStruct(Program.EXIT_INPUTS, 1).getLong(0));
    }
    assertFalse(in.hasRemaining());
  }

  @Test
  void anotherFormatIsRefused() {
    assertThrows(IllegalStateException.class, () -> RowRun.open(new byte[] {9, 0, 0, 0, 0, 0, 0, 0}));
  }
}
