package headrace.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.deliver.DeliveryException;
import headrace.deliver.Marker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ViewStoreTest {
  private static final List<View.Column> COLUMNS = List.of(new View.Column("a", View.Kind.TEXT), new View.Column("b", View.Kind.WHOLE),
      new View.Column("total", View.Kind.DECIMAL), new View.Column("more", View.Kind.NESTED));

  @TempDir
  Path folder;

  private ViewSpec spec(String checkpoint, View.Column... more) {
    List<View.Column> columns = new ArrayList<>(COLUMNS);
    columns.addAll(List.of(more));
    return new ViewSpec(folder.resolve("deep/views.db").toString(), "p", checkpoint, List.of(new View(3, "sold \"so\"", List.of("a", "b"), columns)));
  }

  private static Change put(String a, Integer b, String total) {
    String key = "{\"a\":" + (a == null ? "null" : '"' + a + '"') + ",\"b\":" + b + "}";
    return new Change(3, bytes(key), bytes(key.substring(0, key.length() - 1) + ",\"total\":" + total + ",\"more\":{\"x\":[1]}}"));
  }

  private static Change gone(Change of) {
    return new Change(3, of.key(), null);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private List<String> rows(String sql) throws SQLException {
    List<String> found = new ArrayList<>();
    try (Connection reader = DriverManager.getConnection("jdbc:sqlite:" + spec("c").place()); ResultSet rows = reader.createStatement().executeQuery(sql)) {
      while (rows.next()) {
        found.add(rows.getString(1));
      }
    }
    return found;
  }

  private List<String> totals() throws SQLException {
    return rows("SELECT total FROM \"sold \"\"so\"\"\" ORDER BY a, b");
  }

  @Test
  void whatComesReplacesWhatGoesWhateverTheOrder() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      assertTrue(store.apply(0, List.of(put("x", 1, "1.50"), put("y", 1, "2"))));
      assertEquals(List.of("1.5", "2.0"), totals());
      assertTrue(store.apply(4, List.of(put("x", 1, "7"), gone(put("x", 1, "1.50")), gone(put("y", 1, "2")))));
      assertEquals(List.of("7.0"), totals());
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
      assertEquals(List.of("1.0"), totals());
    }
  }

  @Test
  void nullIsAKeyLikeOthers() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      store.apply(0, List.of(put(null, 1, "1"), put("x", null, "5")));
      store.apply(1, List.of(put(null, 1, "2")));
      assertEquals(List.of("2.0", "5.0"), totals());
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
  void anotherHistoryIsNotWrittenOver() {
    try (ViewStore old = new ViewStore(spec("old")); ViewStore fresh = new ViewStore(spec("new"))) {
      old.adopt();
      old.apply(9, List.of(put("x", 1, "1")));
      fresh.adopt();
      assertEquals(new Marker("new", Marker.BEFORE_ALL), fresh.marker());
      assertThrows(DeliveryException.class, () -> old.apply(10, List.of(put("x", 1, "2"))));
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
  void changesAreKeptForFollowersOnlySoLong() throws SQLException {
    try (ViewStore store = new ViewStore(spec("c"))) {
      store.adopt();
      List<Change> many = new ArrayList<>();
      for (int i = 0; i < ViewStore.KEPT_CHANGES + 10; i++) {
        many.add(put("k" + i, i, "1"));
      }
      store.apply(0, many);
      assertEquals(List.of(Integer.toString(ViewStore.KEPT_CHANGES)), rows("SELECT count(*) FROM headrace_changes"));
    }
  }
}
