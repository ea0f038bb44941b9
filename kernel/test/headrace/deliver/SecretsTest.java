package headrace.deliver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Options: what is refused, what is ours, and that no text shows them. */
class SecretsTest {
  private static ClientOptions with(String name, String value) {
    return new ClientOptions(Map.of("bootstrap.servers", "nowhere:1", name, value));
  }

  @Test
  void noTextShowsASecret() {
    DeliverySpec spec = Specs.epoch("c", 0);
    ProducerKey key = ProducerKey.transactional(spec, 0);
    for (Object shown : new Object[] {spec, key, spec.clients(),
        Failures.explain(new KafkaException("it was " + Specs.SECRET), key, null).getMessage()}) {
      assertFalse(shown.toString().contains(Specs.SECRET), shown.toString());
    }
    String broken = Specs.json("c", 0).replace("{\"pipeline\"", "{pipeline");
    Exception told = assertThrows(IllegalArgumentException.class, () -> DeliverySpec.parse(broken));
    assertFalse(told.toString().contains(Specs.SECRET), told.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"acks=1", "acks=0", "enable.idempotence=False", "retries=0", "transactional.id=x",
      "max.in.flight.requests.per.connection=6", "transaction.timeout.ms=5", "key.serializer=x"})
  void whatBreaksTheGuaranteeIsRefusedByName(String option) {
    String[] pair = option.split("=");
    Exception told = assertThrows(IllegalArgumentException.class, () -> with(pair[0], pair[1]));
    assertTrue(told.getMessage().contains("'" + pair[0] + "' would break"), told.getMessage());
  }

  @Test
  void theRestIsTheUsers() {
    Properties producer = with("linger.ms", "77").producer("id", 60_000);
    assertEquals("77", producer.get("linger.ms"));
    assertEquals("lz4", producer.get("compression.type"));
    assertEquals("all", producer.get("acks"));
    assertEquals("60000", producer.get("transaction.timeout.ms"));
    assertFalse(with("acks", "all").producer(null, 60_000).containsKey("transactional.id"));
  }

  @Test
  void aReaderOfMarkersSeesOnlyWhatWasCommitted() {
    Properties reader = with("isolation.level", "read_uncommitted").reader();
    assertEquals("read_committed", reader.get("isolation.level"));
    assertFalse(with("interceptor.classes", "x").reader().containsKey("interceptor.classes"));
    assertFalse(with("linger.ms", "5").reader().containsKey("linger.ms"));
  }
}
