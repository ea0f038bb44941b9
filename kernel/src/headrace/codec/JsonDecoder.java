package headrace.codec;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The bytes of a JSON message as a row, or the reason why they are none.
 *
 * <p>Strict: a field has the declared type or the message is refused; a non-nullable field must be
 * there; nothing is rounded, guessed or read twice. Fields that are not declared are skipped. Never
 * throws for what a message holds. An instance serves one task.
 */
public final class JsonDecoder {
  private static final int DEEPEST = 64;
  private static final int LONGEST_NUMBER = 1000;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEEPEST)
                  .maxNumberLength(LONGEST_NUMBER)
                  .build())
          .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          // Names of undeclared fields and keys of maps are data: not to be kept by the JVM for good.
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .build();

  private final StructReader reader;
  private final EventTime time;
  private String reason;

  public JsonDecoder(StructType schema, EventTime time) {
    // Without its event time a row is refused anyway, with a reason that says so.
    this.reader = new StructReader(schema, time.ordinal());
    this.time = time;
  }

  /** The message as a row, or null: then {@link #reason} says why. */
  public InternalRow decode(byte[] message, long nowMicros) {
    reason = null;
    try {
      return row(message, nowMicros);
    } catch (Unreadable e) {
      reason = e.reason();
    } catch (StreamConstraintsException e) {
      reason = "beyond the limits of the decoder: " + said(e);
    } catch (JsonEOFException e) {
      reason = "not JSON: ends too early, at byte " + message.length;
    } catch (JsonProcessingException e) {
      reason = "not JSON: " + said(e) + at(e.getLocation());
    } catch (IOException | RuntimeException e) {
      // Nothing of the kind is known; one message must not stop a pipeline all the same.
      reason = "not JSON: " + e;
    }
    return null;
  }

  /** Why the last message was refused; null when it was not. */
  public String reason() {
    return reason;
  }

  private InternalRow row(byte[] message, long nowMicros) throws IOException, Unreadable {
    checkText(message);
    try (JsonParser json = JSON.createParser(message)) {
      if (json.nextToken() == null) {
        throw new Unreadable("empty message");
      }
      if (!json.isExpectedStartObjectToken()) {
        throw new Unreadable("not a JSON object");
      }
      InternalRow row = reader.read(json);
      checkEnd(json);
      checkTime(row, nowMicros);
      return row;
    }
  }

  private static void checkText(byte[] message) throws Unreadable {
    if (message == null) {
      throw new Unreadable("null value (tombstone)");
    }
    if (!isAscii(message) && !UTF8String.fromBytes(message).isValid()) {
      throw new Unreadable("not UTF-8");
    }
    // The parser would take zeros among the first bytes for a sign of UTF-16 or UTF-32.
    for (int i = 0; i < Math.min(4, message.length); i++) {
      if (message[i] == 0) {
        throw new Unreadable("not JSON: unexpected character (code 0) at byte " + i);
      }
    }
  }

  private static boolean isAscii(byte[] bytes) {
    int at = 0;
    for (; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
      if (((long) LONGS.get(bytes, at) & HIGH_BITS) != 0) {
        return false;
      }
    }
    for (; at < bytes.length; at++) {
      if (bytes[at] < 0) {
        return false;
      }
    }
    return true;
  }

  private static void checkEnd(JsonParser json) throws IOException, Unreadable {
    boolean ended;
    try {
      ended = json.nextToken() == null;
    } catch (JsonProcessingException e) {
      ended = false;
    }
    if (!ended) {
      throw new Unreadable("trailing content after the object");
    }
  }

  private void checkTime(InternalRow row, long nowMicros) throws Unreadable {
    if (time.ordinal() < 0) {
      return;
    }
    if (row.isNullAt(time.ordinal())) {
      throw new Unreadable("event time " + time.name() + ": missing");
    }
    time.check(row.getLong(time.ordinal()), nowMicros);
  }

  /** The parser's own words, as the middle of a sentence. */
  private static String said(JsonProcessingException e) {
    String message = e.getOriginalMessage().lines().findFirst().orElse("");
    message = message.length() <= 200 ? message : message.substring(0, 200) + "…";
    return message.isEmpty()
        ? "unreadable"
        : Character.toLowerCase(message.charAt(0)) + message.substring(1);
  }

  private static String at(JsonLocation location) {
    long offset = location == null ? -1 : location.getByteOffset();
    return offset < 0 ? "" : " at byte " + offset;
  }
}
