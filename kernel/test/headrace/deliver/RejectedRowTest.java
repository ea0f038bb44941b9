package headrace.deliver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Rejected rows that are too large for a record. */
class RejectedRowTest {
  private static final int MOST = 10_000;

  private static byte[] row(byte[] key, byte[] value) {
    String json = "{\"offset\":9007199254740993,\"amount\":1.10,\"key\":\"" + Base64.getEncoder().encodeToString(key)
        + "\",\"value\":\"" + Base64.getEncoder().encodeToString(value) + "\",\"reason\":\"not JSON\"}";
    return json.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    new Random(count).nextBytes(bytes);
    return bytes;
  }

  @Test
  void whatFitsStaysAsItIs() {
    byte[] row = row(bytes(10), bytes(1_000));
    assertSame(row, RejectedRow.fitting(null, row, MOST));
  }

  @Test
  void theValueIsCutAndTheReasonSaysSo() throws IOException {
    byte[] value = bytes(8_000);
    byte[] fitting = RejectedRow.fitting(bytes(100), row(bytes(10), value), MOST);
    assertTrue(fitting.length + 100 < MOST, () -> "it weighs " + fitting.length);
    JsonNode read = new ObjectMapper().readTree(fitting);
    byte[] left = Base64.getDecoder().decode(read.get("value").asText());
    assertTrue(left.length > 6_000, () -> "only " + left.length + " bytes are left");
    assertArrayEquals(Arrays.copyOf(value, left.length), left);
    assertArrayEquals(bytes(10), Base64.getDecoder().decode(read.get("key").asText()));
    assertTrue(read.get("reason").asText().startsWith("not JSON (too large to be delivered whole: of this value "));
    assertTrue(new String(fitting, StandardCharsets.UTF_8).contains("\"offset\":9007199254740993,\"amount\":1.10,"));
  }

  @Test
  void aLargeKeyIsCutToo() throws IOException {
    byte[] fitting = RejectedRow.fitting(null, row(bytes(20_000), bytes(300)), MOST);
    assertTrue(fitting.length < MOST);
    JsonNode read = new ObjectMapper().readTree(fitting);
    assertEquals("", read.get("value").asText());
    assertTrue(Base64.getDecoder().decode(read.get("key").asText()).length > 6_000);
  }

  @Test
  void whatHasNoRawBytesStaysAsItIs() {
    byte[] row = ("{\"text\":\"" + "x".repeat(MOST) + "\"}").getBytes(StandardCharsets.UTF_8);
    assertArrayEquals(row, RejectedRow.fitting(null, row, MOST));
  }
}
