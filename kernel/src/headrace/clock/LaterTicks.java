package headrace.clock;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.Map;
import java.util.TreeMap;

/** The tick for the layers after the first, which are not beside the clock: W by program, carried past the operators before theirs. */
public final class LaterTicks {
  private LaterTicks() {}

  static byte[] write(Map<Integer, Long> byProgram) {
    ByteWriter out = new ByteWriter(16 * byProgram.size());
    new TreeMap<>(byProgram).forEach((program, watermark) -> {
      out.writeUnsigned(program);
      out.writeFixed(watermark);
    });
    return out.toBytes();
  }

  /** W of every program in the tick. */
  public static Map<Integer, Long> read(byte[] payload) {
    Map<Integer, Long> byProgram = new TreeMap<>();
    ByteReader in = new ByteReader().over(payload);
    while (in.hasRemaining()) {
      int program = in.readLength();
      byProgram.put(program, in.readFixed());
    }
    return byProgram;
  }
}
