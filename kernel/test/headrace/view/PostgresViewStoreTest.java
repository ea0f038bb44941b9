package headrace.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.deliver.DeliveryException;
import headrace.deliver.Marker;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On the server that the property names; its password is where the variable PGPASSFILE says. */
class PostgresViewStoreTest extends ViewStoreContract {
  private static final String URL = "jdbc:" + System.getProperty("headrace.postgres");
  private static final Map<String, String> CONNECTION = Map.of("url", URL.replaceFirst("//.*@", "//"), "user", "headrace");

  private final String pipeline = "p \"" + UUID.randomUUID();

  @Override
  ViewSpec spec(String checkpoint, List<View> views) {
    return new ViewSpec("postgresql://somewhere", CONNECTION, pipeline, checkpoint, views);
  }

  @Override
  Connection reader() throws SQLException {
    Properties options = new Properties();
    options.setProperty("user", "headrace");
    Connection connection = new org.postgresql.Driver().connect(CONNECTION.get("url"), options);
    connection.createStatement().execute("SET search_path = " + Dialect.quoted(pipeline));
    return connection;
  }

  @Override
  String decimal(String text) {
    return new BigDecimal(text).stripTrailingZeros().toPlainString();
  }

  @AfterEach
  void drop() throws SQLException {
    try (Connection connection = reader(); Statement statement = connection.createStatement()) {
      statement.execute("DROP SCHEMA IF EXISTS " + Dialect.quoted(pipeline) + " CASCADE");
    }
  }

  private void cut() throws SQLException {
    try (Connection connection = reader(); Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = left('headrace ' || '" + pipeline + "', 63)");
    }
  }

  @Test
  void aConnectionThatWasCutIsMadeAgainAndTheEpochTakenOnce() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      store.apply(0, List.of(put("x", 1, "1")));
      cut();
      assertTrue(store.apply(1, List.of(put("x", 1, "2"))));
      cut();
      assertFalse(store.apply(1, List.of(put("x", 1, "3"))));
      assertEquals(List.of("2"), totals());
    }
  }

  @Test
  void aServerThatStaysAwayIsToldAndTheEpochMayComeAgain() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"), Duration.ZERO, 10)) {
      store.adopt();
      cut();
      Exception told = assertThrows(DeliveryException.class, () -> store.apply(0, List.of(put("x", 1, "1"))));
      assertTrue(told.getMessage().contains("cannot take epoch 0"), told.getMessage());
      assertEquals(new Marker("c", Marker.BEFORE_ALL), store.marker());
      assertTrue(store.apply(0, List.of(put("x", 1, "1"))));
      assertEquals(List.of("1"), totals());
    }
  }

  @Test
  void aWriterWaitsForTheOtherAndFindsItsEpoch() throws Exception {
    try (ViewStore one = new ViewStore(spec("c")); ViewStore two = new ViewStore(spec("c")); Connection holds = reader()) {
      one.adopt();
      holds.setAutoCommit(false);
      holds.createStatement().execute("SELECT * FROM headrace_history FOR UPDATE");
      CompletableFuture<Boolean> first = CompletableFuture.supplyAsync(() -> one.apply(0, List.of(put("x", 1, "1"))));
      CompletableFuture<Boolean> second = CompletableFuture.supplyAsync(() -> two.apply(0, List.of(put("x", 1, "1"))));
      String waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IS NOT NULL OR NOT granted AND locktype = 'transactionid'";
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (!rows(waiting).equals(List.of("2")) && System.nanoTime() < deadline) {
        Thread.sleep(10);
      }
      assertEquals(List.of("2"), rows(waiting));
      assertFalse(first.isDone() || second.isDone());
      holds.rollback();
      assertTrue(first.get(20, TimeUnit.SECONDS) ^ second.get(20, TimeUnit.SECONDS));
      assertEquals(List.of("1"), rows("SELECT count(*) FROM headrace_changes"));
    }
  }

  @Test
  void followersAreWoken() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c")); Connection listens = reader()) {
      listens.createStatement().execute("LISTEN headrace_views");
      store.adopt();
      store.apply(0, List.of(put("x", 1, "1")));
      org.postgresql.PGNotification[] told = listens.unwrap(org.postgresql.PGConnection.class).getNotifications(20_000);
      assertEquals(pipeline, told[0].getParameter());
    }
  }

  @Test
  void aTextThatPostgresCannotKeepIsToldByItsColumn() {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      Exception told = assertThrows(DeliveryException.class, () -> store.apply(0, List.of(put("x\\u0000", 1, "1"))));
      assertTrue(told.getMessage().contains("column a") && told.getMessage().contains("NUL"), told.getMessage());
      assertTrue(store.apply(0, List.of(put("x", 1, "1"))));
    }
  }

  @Test
  void whatTheServerRefusesIsToldWithoutTheRow() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      try (Connection connection = reader(); Statement statement = connection.createStatement()) {
        statement.execute("ALTER TABLE \"sold \"\"so\"\"\" ADD CHECK (total < 5)");
      }
      Exception told = assertThrows(DeliveryException.class, () -> store.apply(0, List.of(put("secret", 1, "7"), put("y", 1, "1"))));
      assertTrue(told.getMessage().contains("check constraint"), told.getMessage());
      assertFalse(told.getMessage().contains("secret"), told.getMessage());
    }
  }

  @Test
  void aSchemaThatIsThereIsUsedAndOthersTablesStay() throws SQLException {
    try (Connection connection = reader(); Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA " + Dialect.quoted(pipeline));
      statement.execute("CREATE TABLE others (n int)");
    }
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      store.clear();
      assertEquals(List.of("0"), rows("SELECT count(*) FROM others"));
    }
  }

  @Test
  void noTextShowsThePassword() {
    Map<String, String> connection = new HashMap<>(CONNECTION);
    connection.put("password", "hunter2");
    ViewSpec spec = new ViewSpec("postgresql://somewhere", connection, pipeline, "c", List.of());
    assertFalse(spec.toString().contains("hunter2"), spec.toString());
    Exception told = assertThrows(DeliveryException.class, () -> new ViewStore(spec));
    assertTrue(told.getMessage().contains("password authentication failed"), told.getMessage());
    for (Throwable at = told; at != null; at = at.getCause()) {
      assertFalse(at.toString().contains("hunter2"), at.toString());
    }
  }

  @Test
  void aServerThatIsNotThereIsToldAtOnce() {
    Map<String, String> connection = Map.of("url", "jdbc:postgresql://127.0.0.1:1/headrace", "user", "headrace");
    Exception told = assertThrows(DeliveryException.class, () -> new ViewStore(new ViewSpec("postgresql://somewhere", connection, "p", "c", List.of())));
    assertTrue(told.getMessage().contains("cannot be opened") && told.getMessage().contains("; cure: "), told.getMessage());
  }

  @Test
  void whoWaitsOutlastsOneThatHangsAndSeesWhatItDid() throws SQLException {
    Map<String, String> options = new HashMap<>(CONNECTION);
    options.put("options", "-c default_transaction_isolation=serializable");
    ViewSpec spec = new ViewSpec("postgresql://somewhere", options, pipeline, "c", List.of());
    String asked = "SELECT current_setting('transaction_isolation'), "
        + "current_setting('lock_timeout')::interval - current_setting('idle_in_transaction_session_timeout')::interval >= '10s'";
    try (Connection open = new PostgresDialect(spec).open(); Statement statement = open.createStatement();
        ResultSet found = statement.executeQuery(asked)) {
      found.next();
      assertEquals("read committed", found.getString(1));
      assertTrue(found.getBoolean(2));
    }
  }

  @Test
  void keysThatAreOneToTheDatabaseAreToldAsThat() {
    View view = new View(3, "numbers", List.of("n"), List.of(new View.Column("n", View.Kind.NUMBER), new View.Column("m", View.Kind.WHOLE)));
    try (ViewStore store = new ViewStore(spec("c", List.of(view)))) {
      store.adopt();
      List<Change> same = Stream.of("0.0", "-0.0")
          .map(n -> new Change(3, bytes("{\"n\":" + n + "}"), bytes("{\"n\":" + n + ",\"m\":1}"))).toList();
      Exception told = assertThrows(DeliveryException.class, () -> store.apply(0, same));
      assertTrue(told.getMessage().contains("two keys of one epoch for the same"), told.getMessage());
    }
  }

  @Test
  void manyRowsGoInFewStatements() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c")); Connection reader = reader(); Statement statement = reader.createStatement()) {
      store.adopt();
      List<Change> many = IntStream.range(0, 5_000).mapToObj(n -> put("k" + n, n, "1")).toList();
      store.apply(0, many);
      store.apply(1, many);
      try (ResultSet found = statement.executeQuery("SELECT count(*), sum(total) FROM \"sold \"\"so\"\"\"")) {
        found.next();
        assertEquals("5000 5000", found.getString(1) + " " + found.getString(2));
      }
    }
  }
}
