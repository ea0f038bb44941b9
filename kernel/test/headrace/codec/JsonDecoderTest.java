package headrace.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonDecoderTest {
  private static final long NOW = micros("2026-06-15T12:00:00Z");
  private static final StructType PAYMENT =
      new StructType()
          .add("id", DataTypes.StringType, false)
          .add("at", DataTypes.TimestampType, true)
          .add("amount", DataTypes.createDecimalType(12, 2), true)
          .add("n", DataTypes.LongType, true)
          .add(
              "card",
              new StructType()
                  .add("number", DataTypes.StringType, false)
                  .add("tags", DataTypes.createArrayType(DataTypes.IntegerType, false)));

  private static long micros(String instant) {
    Instant time = Instant.parse(instant);
    return time.getEpochSecond() * 1_000_000 + time.getNano() / 1000;
  }

  private static JsonDecoder decoder(StructType schema, String spec) {
    return new JsonDecoder(schema, EventTime.of(spec, schema));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String reason(StructType schema, String spec, byte[] message) {
    JsonDecoder decoder = decoder(schema, spec);
    assertNull(decoder.decode(message, NOW));
    return decoder.reason();
  }

  private static String reason(String message) {
    return reason(PAYMENT, "{}", bytes(message.replace('\'', '"')));
  }

  /** The value of the one field x. */
  private static Object value(DataType type, String json) {
    StructType schema = new StructType().add("x", type, true);
    JsonDecoder decoder = decoder(schema, "{}");
    InternalRow row = decoder.decode(bytes("{\"x\":" + json + "}"), NOW);
    assertNotNull(row, decoder.reason());
    assertNull(decoder.reason());
    return row.get(0, type);
  }

  private static String refusal(DataType type, String json) {
    return reason(new StructType().add("x", type, true), "{}", bytes("{\"x\":" + json + "}"));
  }

  @Test
  void aMessageBecomesARow() {
    JsonDecoder decoder = decoder(PAYMENT, "{\"time\":\"at\",\"ahead_micros\":600000000}");
    String message =
        """
        {"extra": {"a": [1, {"b": 2}]}, "id": "Zoë", "at": "2026-06-15T14:05:00.5+02:00",
         "amount": 12.3, "n": -7, "card": {"number": "4111", "more": [], "tags": [1, 2]}}
        """;
    InternalRow row = decoder.decode(bytes(message), NOW);
    assertNotNull(row, decoder.reason());
    assertEquals(UTF8String.fromString("Zoë"), row.getUTF8String(0));
    assertEquals(micros("2026-06-15T12:05:00.5Z"), row.getLong(1));
    assertEquals(new BigDecimal("12.30"), row.getDecimal(2, 12, 2).toJavaBigDecimal());
    assertEquals(-7, row.getLong(3));
    InternalRow card = row.getStruct(4, 2);
    assertEquals("4111", card.getUTF8String(0).toString());
    assertArrayEquals(new int[] {1, 2}, card.getArray(1).toIntArray());
  }

  @Test
  void nullableFieldsMayBeNullOrMissing() {
    InternalRow row = decoder(PAYMENT, "{}").decode(bytes("{\"id\":\"\",\"n\":null}"), NOW);
    assertEquals(UTF8String.EMPTY_UTF8, row.getUTF8String(0));
    for (int i = 1; i < 5; i++) {
      assertTrue(row.isNullAt(i));
    }
  }

  @Test
  void aDecoderGoesOnAfterARefusal() {
    JsonDecoder decoder = decoder(PAYMENT, "{}");
    assertNull(decoder.decode(bytes("{"), NOW));
    assertNotNull(decoder.decode(bytes("{\"id\":\"a\"}"), NOW));
    assertNull(decoder.reason());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "``|empty message",
        "`  \n `|empty message",
        "[1]|not a JSON object",
        "'a'|not a JSON object",
        "null|not a JSON object",
        "{'id':'a'|not JSON: ends too early, at byte 9",
        "{'id':'a|not JSON: ends too early, at byte 8",
        "{'id':'a'} x|trailing content after the object",
        "{'id':'a'}{}|trailing content after the object",
        "{'n':1}|field id: missing",
        "{'id':null}|field id: null",
        "{'id':1}|field id: expected string, found number 1",
        "{'id':'a','id':'b'}|duplicate field id",
        "{'id':'a','amount':'abc'}|field amount: expected decimal(12,2), found string \"abc\"",
        "{'id':'a','amount':{}}|field amount: expected decimal(12,2), found an object",
        "{'id':'a','amount':true}|field amount: expected decimal(12,2), found true",
        "{'id':'a','amount':12345678901}|field amount: 12345678901 does not fit decimal(12,2)",
        "{'id':'a','amount':1.005}|field amount: 1.005 does not fit decimal(12,2)",
        "{'id':'a','n':9223372036854775808}|field n: 9223372036854775808 does not fit long",
        "{'id':'a','n':1.0}|field n: expected long, found number 1.0",
        "{'id':'a','n':'1'}|field n: expected long, found string \"1\"",
        "{'id':'a','at':1767225600}|field at: expected timestamp, found number 1767225600",
        "{'id':'a','card':{}}|field card.number: missing",
        "{'id':'a','card':7}|field card: expected an object, found number 7",
        "{'id':'a','card':{'number':'1','tags':[1,'x']}}"
            + "|field card.tags[1]: expected int, found string \"x\"",
        "{'id':'a','card':{'number':'1','tags':[1,null]}}|field card.tags[1]: null",
        "{'id':'a\\ud800'}|field id: \\ud800 is half of a surrogate pair",
      })
  void theReasonIsPrecise(String message, String reason) {
    assertEquals(reason, reason(message));
  }

  @Test
  void aSyntaxErrorNamesItsByte() {
    String reason = reason("{'id':'a','n':}");
    assertTrue(
        reason.startsWith("not JSON: unexpected character ('}' (code 125))")
            && reason.endsWith(" at byte 14"),
        reason);
  }

  @ParameterizedTest
  @ValueSource(strings = {"NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "tru"})
  void whatIsNotJsonIsNotReadAsANumber(String text) {
    String reason = refusal(DataTypes.DoubleType, text);
    assertTrue(reason.startsWith("not JSON: "), reason);
  }

  @Test
  void nothingAndWhatIsNotText() {
    assertEquals("null value (tombstone)", reason(PAYMENT, "{}", null));
    byte[] broken = bytes("{\"id\":\"a?\"}");
    broken[8] = (byte) 0xE9;
    assertEquals("not UTF-8", reason(PAYMENT, "{}", broken));
    byte[] utf16 = "{\"id\":\"a\"}".getBytes(StandardCharsets.UTF_16LE);
    assertEquals(
        "not JSON: unexpected character (code 0) at byte 1", reason(PAYMENT, "{}", utf16));
  }

  @Test
  void depthIsBounded() {
    String deep = "{\"id\":\"a\",\"deep\":" + "[".repeat(100_000) + "}";
    String reason = reason(PAYMENT, "{}", bytes(deep));
    assertTrue(reason.startsWith("beyond the limits of the decoder: "), reason);
  }

  @ParameterizedTest
  @ValueSource(strings = {"n", "amount", "unknown"})
  void aMegabyteOfDigitsDoesNotStall(String field) {
    byte[] message = bytes("{\"id\":\"a\",\"" + field + "\":" + "9".repeat(1 << 20) + "}");
    JsonDecoder decoder = decoder(PAYMENT, "{}");
    assertTimeoutPreemptively(
        Duration.ofSeconds(10), () -> assertNull(decoder.decode(message, NOW)));
    assertTrue(decoder.reason().length() < 400, decoder.reason());
  }

  @Test
  void aMegabyteOfDigitsInTextDoesNotStall() {
    byte[] message = bytes("{\"id\":\"a\",\"amount\":\"" + "9".repeat(1 << 20) + "\"}");
    String reason =
        assertTimeoutPreemptively(
            Duration.ofSeconds(10), () -> reason(PAYMENT, "{}", message));
    assertEquals("field amount: " + "9".repeat(40) + "… does not fit decimal(12,2)", reason);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0.00", "-0,0.00", "12.3,12.30", "'\"12.30\"',12.30", "'\"-0.01\"',-0.01",
    "9999999999.99,9999999999.99", "-9999999999.99,-9999999999.99", "1.500000000000000000000,1.50",
    "1e3,1000.00", "1.2E-1,0.12", "0e999999999,0.00", "'\"007.10\"',7.10", "25e-1,2.50",
  })
  void decimalsAreExact(String json, String expected) {
    Object value = value(DataTypes.createDecimalType(12, 2), json);
    assertEquals(
        new BigDecimal(expected), ((org.apache.spark.sql.types.Decimal) value).toJavaBigDecimal());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "10000000000", "10000000000.00", "-10000000000", "0.001", "1e10", "1e999999999", "1e-3",
        "1e-999999999", "1e99999999999", "99999999999999999999"
      })
  void decimalsAreNotRounded(String json) {
    assertEquals(
        "field x: " + json + " does not fit decimal(12,2)",
        refusal(DataTypes.createDecimalType(12, 2), json));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " 1", "1 ", "+1", "1,5", "1e3", "1.", ".5", "-", "0x1", "NaN", "١"})
  void onlyPlainNumbersAreTakenFromText(String text) {
    assertEquals(
        "field x: expected decimal(12,2), found string \"" + text + "\"",
        refusal(DataTypes.createDecimalType(12, 2), "\"" + text + "\""));
  }

  @Test
  void decimalsAgreeWithBigDecimal() {
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      int precision = 1 + random.nextInt(38);
      int scale = random.nextInt(precision + 1);
      BigDecimal number =
          new BigDecimal(new java.math.BigInteger(1 + random.nextInt(128), random), random.nextInt(24));
      number = random.nextBoolean() ? number : number.negate();
      String text = number.toPlainString();
      boolean fits;
      try {
        fits = number.setScale(scale).precision() <= precision || number.signum() == 0;
      } catch (ArithmeticException e) {
        fits = false;
      }
      DataType type = DataTypes.createDecimalType(precision, scale);
      if (fits) {
        var value = (org.apache.spark.sql.types.Decimal) value(type, text);
        assertEquals(number.setScale(scale), value.toJavaBigDecimal());
        assertEquals(precision, value.precision());
      } else {
        assertTrue(refusal(type, text).endsWith(" does not fit decimal(" + precision + "," + scale + ")"));
      }
    }
  }

  @Test
  void theOtherTypes() {
    assertEquals(127, (byte) value(DataTypes.ByteType, "127"));
    assertEquals(-32768, (short) value(DataTypes.ShortType, "-32768"));
    assertEquals(2147483647, (int) value(DataTypes.IntegerType, "2147483647"));
    assertEquals(Long.MIN_VALUE, (long) value(DataTypes.LongType, "-9223372036854775808"));
    assertEquals(0.1, (double) value(DataTypes.DoubleType, "0.1"));
    assertEquals(3.0, (double) value(DataTypes.DoubleType, "3"));
    assertEquals(0.1f, (float) value(DataTypes.FloatType, "0.1"));
    assertEquals(true, value(DataTypes.BooleanType, "true"));
    assertArrayEquals(new byte[] {1, -1}, (byte[]) value(DataTypes.BinaryType, "\"Af8=\""));
    assertEquals((int) LocalDate.parse("2024-02-29").toEpochDay(), value(DataTypes.DateType, "\"2024-02-29\""));
    assertEquals(0L, value(DataTypes.TimestampNTZType, "\"1970-01-01T00:00\""));
  }

  @Test
  void theOtherTypesHaveBounds() {
    assertEquals("field x: 128 does not fit byte", refusal(DataTypes.ByteType, "128"));
    assertEquals("field x: 32768 does not fit short", refusal(DataTypes.ShortType, "32768"));
    assertEquals("field x: -2147483649 does not fit int", refusal(DataTypes.IntegerType, "-2147483649"));
    assertEquals("field x: 1e400 does not fit double", refusal(DataTypes.DoubleType, "1e400"));
    assertEquals("field x: 1e39 does not fit float", refusal(DataTypes.FloatType, "1e39"));
    assertEquals("field x: expected boolean, found number 1", refusal(DataTypes.BooleanType, "1"));
    assertEquals(
        "field x: expected base64, found string \"*\"", refusal(DataTypes.BinaryType, "\"*\""));
    assertEquals(
        "field x: expected date, found string \"2026-02-29\"",
        refusal(DataTypes.DateType, "\"2026-02-29\""));
    assertEquals(
        "field x: expected timestamp_ntz, found string \"1970-01-01T00:00Z\"",
        refusal(DataTypes.TimestampNTZType, "\"1970-01-01T00:00Z\""));
  }

  @Test
  void maps() {
    DataType type = DataTypes.createMapType(DataTypes.StringType, DataTypes.LongType, false);
    var map = (org.apache.spark.sql.catalyst.util.MapData) value(type, "{\"a\":1,\"b\":2}");
    assertEquals(2, map.numElements());
    assertEquals("b", map.keyArray().getUTF8String(1).toString());
    assertEquals(2, map.valueArray().getLong(1));
    assertEquals("field x[\"a\"]: null", refusal(type, "{\"a\":null}"));
    assertEquals("field x[\"a\"]: duplicate key", refusal(type, "{\"a\":1,\"a\":1}"));
    assertEquals("field x[\"a\"]: expected long, found true", refusal(type, "{\"a\":true}"));
  }

  @ParameterizedTest
  @CsvSource({
    "2026-01-31T12:30:15Z,2026-01-31T12:30:15Z",
    "2026-01-31T12:30:15.123456Z,2026-01-31T12:30:15.123456Z",
    "2026-01-31T12:30:15.123456789Z,2026-01-31T12:30:15.123456Z",
    "2026-01-31t12:30:15.5z,2026-01-31T12:30:15.5Z",
    "2026-01-31 12:30:15,2026-01-31T12:30:15Z",
    "2026-01-31T12:30,2026-01-31T12:30:00Z",
    "2026-01-31T12:30+01,2026-01-31T11:30:00Z",
    "2026-01-31T00:30:00+0130,2026-01-30T23:00:00Z",
    "2026-12-31T23:30:00-05:45,2027-01-01T05:15:00Z",
    "1969-12-31T23:59:59.999999Z,1969-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00Z,0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z,9999-12-31T23:59:59Z",
  })
  void timesAreIsoText(String text, String instant) {
    assertEquals(micros(instant), value(DataTypes.TimestampType, "\"" + text + "\""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "2026-01-31", "12:30", "2026-01-31T", "2026-01-31T12", "2026-02-30T00:00:00Z",
        "2026-13-01T00:00:00Z", "0000-01-01T00:00:00Z", "2026-01-31T24:00:00Z",
        "2026-01-31T12:60:00Z", "2026-01-31T12:30:60Z", "2026-01-31T12:30:15.Z",
        "2026-01-31T12:30:15.1234567890Z", "2026-01-31T12:30:15+1", "2026-01-31T12:30:15+19:00",
        "2026-01-31T12:30:15+01:60", "2026-01-31T12:30:15ZZ", "2026-01-31T12:30:1",
        "2026-01-31T12:30:", "2026-01-31X12:30:15Z", "+2026-01-31T12:30:15Z", "1767225600000",
        "2026/01/31T12:30:15Z", "2026-01-31T12:30:15[UTC]", "today"
      })
  void otherTimesAreRefused(String text) {
    assertEquals(
        "field x: expected timestamp, found string \"" + text + "\"",
        refusal(DataTypes.TimestampType, "\"" + text + "\""));
  }

  @Test
  void daysAgreeWithTheCalendar() {
    LocalDate day = LocalDate.of(1, 1, 1);
    for (; day.getYear() < 10_000; day = day.plusDays(97)) {
      char[] text = day.toString().toCharArray();
      assertEquals(day.toEpochDay(), IsoTime.day(text, 0, text.length));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "2190-01-01T00:00:00Z,163 years", "2026-06-15T12:10:01Z,10 minutes 1 second",
    "2026-06-18T13:00:00Z,3 days 1 hour", "2026-06-15T14:00:00Z,2 hours"
  })
  void timesThatCannotBeTrueAreRefused(String time, String ahead) {
    String spec = "{\"time\":\"at\",\"ahead_micros\":600000000}";
    assertEquals(
        "event time " + time + " is " + ahead + " ahead of the clock (limit 10 minutes)",
        reason(PAYMENT, spec, bytes("{\"id\":\"a\",\"at\":\"" + time + "\"}")));
  }

  @Test
  void theLimitItselfIsTaken() {
    JsonDecoder decoder = decoder(PAYMENT, "{\"time\":\"at\",\"ahead_micros\":600000000}");
    assertNotNull(decoder.decode(bytes("{\"id\":\"a\",\"at\":\"2026-06-15T12:10:00Z\"}"), NOW));
    assertNotNull(decoder.decode(bytes("{\"id\":\"a\",\"at\":\"0001-01-01T00:00:00Z\"}"), NOW));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void withoutAnEventTimeThereIsNoRow(boolean nullable) {
    StructType schema = new StructType().add("at", DataTypes.TimestampType, nullable);
    for (String message : new String[] {"{}", "{\"at\":null}"}) {
      assertEquals(
          "event time at: missing", reason(schema, "{\"time\":\"at\"}", bytes(message)));
    }
  }

  @Test
  void whatCannotBeReadFromJsonIsRefusedAtOnce() {
    StructType schema = new StructType().add("x", DataTypes.CalendarIntervalType);
    Exception refused =
        assertThrows(IllegalArgumentException.class, () -> decoder(schema, "{}"));
    assertEquals("field x: a interval cannot be read from JSON", refused.getMessage());
  }

  @Test
  void noMessageMakesItThrow() {
    byte[] good =
        bytes(
            "{\"id\":\"Zoë\",\"at\":\"2026-06-15T12:00:00Z\",\"amount\":\"1.5\",\"n\":1,"
                + "\"card\":{\"number\":\"\\u00e9\",\"tags\":[1,2,3]}}");
    JsonDecoder decoder = decoder(PAYMENT, "{\"time\":\"at\",\"ahead_micros\":600000000}");
    assertNotNull(decoder.decode(good, NOW));
    Random random = new Random(2);
    for (int i = 0; i < 200_000; i++) {
      byte[] bad = good.clone();
      for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
        bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
      }
      InternalRow row = decoder.decode(bad, NOW);
      assertEquals(row == null, decoder.reason() != null);
      assertTrue(row != null || !decoder.reason().contains("Exception"), decoder.reason());
    }
  }
}
