package headrace.view;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;

class SqliteViewStoreTest extends ViewStoreContract {
  @TempDir
  Path folder;

  @Override
  ViewSpec spec(String checkpoint, List<View> views) {
    return new ViewSpec(folder.resolve("deep/views.db").toString(), Map.of(), "p", checkpoint, views);
  }

  @Override
  Connection reader() throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("deep/views.db"));
  }

  @Override
  String decimal(String text) {
    return Double.toString(Double.parseDouble(text));
  }
}
