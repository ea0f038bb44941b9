package headrace.postgres;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class PassingTest {
  @ParameterizedTest
  @ValueSource(strings = {"08001", "08006", "08P01", "57P01", "57P03", "57P05", "25P03", "53300", "40001", "40P01"})
  void whatPasses(String state) {
    assertTrue(Passing.is(new SQLException("so", state)));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"08004", "28P01", "57014", "55P03", "53100", "21000", "23505", "42P01"})
  void whatStays(String state) {
    assertFalse(Passing.is(new SQLException("so", state)));
  }
}
