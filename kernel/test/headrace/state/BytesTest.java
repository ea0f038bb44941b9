package headrace.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class BytesTest {
  private static final long[] EDGES = {0, 1, -1, 63, 64, 127, 128, 16_383, 16_384, Integer.MAX_VALUE, Long.MAX_VALUE, Long.MIN_VALUE};

  @Test
  void numbersComeBackAsTheyWent() {
    ByteWriter out = new ByteWriter(1);
    for (long value : EDGES) {
      out.writeUnsigned(value);
      out.writeSigned(value);
      out.writeFixed(value);
      out.writeDouble(Double.longBitsToDouble(value));
    }
    ByteReader in = new ByteReader().over(out.toBytes());
    for (long value : EDGES) {
      assertEquals(value, in.readUnsigned());
      assertEquals(value, in.readSigned());
      assertEquals(value, in.readFixed());
      assertEquals(Double.longBitsToDouble(value), in.readDouble());
    }
    assertTrue(!in.hasRemaining());
  }

  @Test
  void aLengthIsWrittenBehindWhatItMeasures() {
    for (int length : new int[] {0, 1, 127, 128, 16_383, 16_384, 300_000}) {
      byte[] content = new byte[length];
      new Random(length).nextBytes(content);
      ByteWriter out = new ByteWriter(4);
      int begin = out.beginLength();
      out.writeRaw(content, 0, length);
      out.endLength(begin);
      out.writeSigned(-7);
      ByteReader in = new ByteReader().over(out.toBytes());
      assertArrayEquals(content, in.readBytes());
      assertEquals(-7, in.readSigned());
    }
  }

  @Test
  void aCutValueIsRefused() {
    ByteWriter out = new ByteWriter(4);
    out.writeUnsigned(5);
    out.writeByte(1);
    assertThrows(IllegalStateException.class, () -> new ByteReader().over(out.toBytes()).readBytes());
  }

  @Test
  void aHeaderComesBackAsItWent() {
    Header header = new Header("total=sum(long)");
    header.watermark = 12;
    Header.Part window = new Header.Part();
    window.keys = 3;
    window.bytes = 4_000;
    window.pages = 2;
    header.parts.put(-60_000_000L, window);
    Header read = Header.read(header.write(), "total=sum(long)", "velocity");
    assertEquals(12, read.watermark);
    assertEquals(2, read.parts.get(-60_000_000L).pages);
    assertArrayEquals(header.write(), read.write());
  }

  @Test
  void cellsOfOtherAggregatesAreRefusedWithACure() {
    Header header = new Header("total=sum(long)");
    assertEquals(0, Header.read(header.write(), "n=count", "velocity").parts.size(), "nothing is open: nothing to misread");
    header.parts.put(0L, new Header.Part());
    String message = assertThrows(IllegalStateException.class, () -> Header.read(header.write(), "n=count", "velocity")).getMessage();
    assertTrue(message.contains("velocity") && message.contains("drain"), message);
  }

  @Test
  void aHeaderOfALaterFormatIsRefused() {
    byte[] bytes = new Header("").write();
    bytes[0] = 9;
    assertThrows(IllegalStateException.class, () -> Header.read(bytes, "", "velocity"));
  }
}
