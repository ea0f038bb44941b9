package headrace.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.deliver.DeliveryException;
import headrace.deliver.Marker;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What every store of views promises; each kind of database runs all of it. */
abstract class ViewStoreContract {
  private static final List<View.Column> COLUMNS = List.of(new View.Column("a", View.Kind.TEXT), new View.Column("b", View.Kind.WHOLE),
      new View.Column("total", View.Kind.DECIMAL), new View.Column("more", View.Kind.NESTED));

  /** A place that is this test's own, the same however often it is asked for. */
  abstract ViewSpec spec(String checkpoint, List<View> views);

  /** A connection as a reader of the store has it. */
  abstract Connection reader() throws SQLException;

  /** A decimal as this store gives it back as text. */
  abstract String decimal(String text);

  ViewSpec spec(String checkpoint, View.Column... more) {
    List<View.Column> columns = new ArrayList<>(COLUMNS);
    columns.addAll(List.of(more));
    return spec(checkpoint, List.of(new View(3, "sold \"so\"", List.of("a", "b"), columns)));
  }

  static Change put(String a, Integer b, String total) {
    String key = "{\"a\":" + (a == null ? "null" : '"' + a + '"') + ",\"b\":" + b + "}";
    return new Change(3, bytes(key), bytes(key.substring(0, key.length() - 1) + ",\"total\":" + total + ",\"more\":{\"x\":[1]}}"));
  }

  private static Change gone(Change of) {
    return new Change(3, of.key(), null);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void whatWasClosedStaysClosed() {
    ViewStore store = new ViewStore(spec("c"));
    store.adopt();
    store.close();
    store.close();
    Exception told = assertThrows(DeliveryException.class, () -> store.apply(0, List.of(put("x", 1, "1"))));
    assertTrue(told.getMessage().contains("it was closed"), told.getMessage());
  }

  List<String> rows(String sql) throws SQLException {
    List<String> found = new ArrayList<>();
    try (Connection reader = reader(); ResultSet rows = reader.createStatement().executeQuery(sql)) {
      while (rows.next()) {
        found.add(rows.getString(1));
      }
    }
    return found;
  }

  List<String> totals() throws SQLException {
    return rows("SELECT total FROM \"sold \"\"so\"\"\" ORDER BY a NULLS FIRST, b NULLS FIRST");
  }

  @Test
  void whatComesReplacesWhatGoesWhateverTheOrder() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      assertTrue(store.apply(0, List.of(put("x", 1, "1.50"), put("y", 1, "2"))));
      assertEquals(List.of(decimal("1.50"), decimal("2")), totals());
      assertTrue(store.apply(4, List.of(put("x", 1, "7"), gone(put("x", 1, "1.50")), gone(put("y", 1, "2")))));
      assertEquals(List.of(decimal("7")), totals());
      assertEquals(new Marker("c", 4), store.marker());
    }
  }

  @Test
  void anEpochIsTakenOnce() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      store.apply(2, List.of(put("x", 1, "1")));
    }
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      assertFalse(store.apply(2, List.of(put("x", 1, "2"))));
      assertFalse(store.apply(1, List.of(put("x", 1, "3"))));
      assertEquals(List.of(decimal("1")), totals());
    }
  }

  @Test
  void nullIsAKeyLikeOthers() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      store.apply(0, List.of(put(null, 1, "1"), put("x", null, "5")));
      store.apply(1, List.of(put(null, 1, "2")));
      assertEquals(List.of(decimal("2"), decimal("5")), totals());
      store.apply(2, List.of(gone(put(null, 1, "2")), gone(put("x", null, "5"))));
      assertEquals(List.of(), totals());
    }
  }

  @Test
  void decimalsThatNoDoubleHoldsStayWhole() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      store.apply(0, List.of(put("x", 1, "12345678901234567890.123456789")));
      assertEquals(List.of("12345678901234567890.123456789"), totals());
    }
  }

  @Test
  void anotherHistoryIsNotWrittenOver() throws SQLException {
    try (ViewStore old = new ViewStore(spec("old")); ViewStore fresh = new ViewStore(spec("new"))) {
      old.adopt();
      old.apply(9, List.of(put("x", 1, "1")));
      fresh.adopt();
      assertEquals(new Marker("new", Marker.BEFORE_ALL), fresh.marker());
      Exception told = assertThrows(DeliveryException.class, () -> old.apply(10, List.of(put("x", 1, "2"))));
      assertTrue(told.getMessage().contains("belong to another history now"), told.getMessage());
      assertTrue(fresh.apply(0, List.of(put("x", 1, "3"))));
      assertEquals(List.of(decimal("3")), totals());
    }
  }

  @Test
  void columnsMayBeAddedAndNotTakenAway() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      store.apply(0, List.of(put("x", 1, "1")));
    }
    try (ViewStore store = new ViewStore(spec("c", new View.Column("new", View.Kind.TRUTH)))) {
      store.adopt();
      store.apply(1, List.of(put("y", 1, "1")));
      assertEquals(2, totals().size());
    }
    try (ViewStore store = new ViewStore(spec("c"))) {
      assertThrows(DeliveryException.class, store::adopt);
    }
  }

  @Test
  void everyKindOfColumnIsKeptAndNullToo() throws SQLException {
    List<View.Column> columns = new ArrayList<>(List.of(new View.Column("id", View.Kind.WHOLE)));
    for (View.Kind kind : View.Kind.values()) {
      columns.add(new View.Column("of_" + kind, kind));
    }
    try (ViewStore store = new ViewStore(spec("c", List.of(new View(0, "kinds", List.of("id"), columns))))) {
      store.adopt();
      store.apply(0, List.of(
          new Change(0, bytes("{\"id\":1}"), bytes("{\"id\":1,\"of_WHOLE\":-9223372036854775808,\"of_NUMBER\":\"NaN\",\"of_DECIMAL\":0.10,\"of_TRUTH\":true,"
              + "\"of_TEXT\":\"a'b\",\"of_TIME\":\"2026-01-01T00:00:00.000Z\",\"of_NESTED\":[{\"z\":1,\"a\":null}]}")),
          new Change(0, bytes("{\"id\":2}"), bytes("{\"id\":2,\"of_WHOLE\":null}"))));
      assertEquals(List.of("-9223372036854775808"), rows("SELECT \"of_WHOLE\" FROM kinds WHERE id = 1"));
      assertEquals(List.of("NaN"), rows("SELECT \"of_NUMBER\" FROM kinds WHERE id = 1"));
      assertEquals(List.of("a'b"), rows("SELECT \"of_TEXT\" FROM kinds WHERE \"of_TRUTH\" AND id = 1"));
      assertEquals(List.of("2026-01-01T00:00:00.000Z"), rows("SELECT \"of_TIME\" FROM kinds WHERE id = 1"));
      assertEquals(List.of("[{\"z\":1,\"a\":null}]"), rows("SELECT \"of_NESTED\" FROM kinds WHERE id = 1"));
      String nulls = String.join(" AND ", columns.subList(1, columns.size()).stream().map(column -> Dialect.quoted(column.name()) + " IS NULL").toList());
      assertEquals(List.of("2"), rows("SELECT id FROM kinds WHERE " + nulls));
    }
  }

  @Test
  void aViewWithoutKeyHasOneRow() throws SQLException {
    View whole = new View(1, "whole", List.of(), List.of(new View.Column("n", View.Kind.WHOLE)));
    try (ViewStore store = new ViewStore(spec("c", List.of(whole)))) {
      store.adopt();
      for (int n = 0; n < 3; n++) {
        store.apply(n, List.of(new Change(1, bytes("{}"), bytes("{\"n\":" + n + "}"))));
      }
      assertEquals(List.of("2"), rows("SELECT n FROM whole"));
    }
  }

  @Test
  void numbersOfChangesNeverComeAgain() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      store.apply(0, List.of(put("x", 1, "1"), put("y", 1, "1")));
      store.clear();
      assertEquals(List.of(), rows("SELECT name FROM headrace_views"));
      store.adopt();
      store.apply(0, List.of(put("x", 1, "1")));
      assertEquals(List.of("3"), rows("SELECT number FROM headrace_changes"));
    }
  }

  @Test
  void changesAreKeptForFollowersOnlySoLong() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"), Duration.ZERO, 10)) {
      store.adopt();
      for (int epoch = 0; epoch < 3; epoch++) {
        List<Change> some = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
          some.add(put("k" + i, i, "1"));
        }
        store.apply(epoch, some);
      }
      assertEquals(List.of("12 21 10"), rows("SELECT min(number) || ' ' || max(number) || ' ' || count(*) FROM headrace_changes"));
    }
  }
}
