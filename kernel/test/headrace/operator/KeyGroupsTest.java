package headrace.operator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.collection.immutable.ArraySeq;

class KeyGroupsTest {
  @Test
  void groupsAreDealtToPartitionsInTurnByWhatSparkItselfComputes() {
    for (int program = 0; program < 5; program++) {
      for (int partitions : new int[] {1, 2, 3, 8, 13}) {
        int[] numbers = KeyGroups.numbers(program, 40, partitions);
        assertEquals(40, Arrays.stream(numbers).distinct().count());
        for (int slot = 0; slot < numbers.length; slot++) {
          assertEquals(slot % partitions, spark(program, numbers[slot], partitions));
        }
      }
    }
  }

  private static int spark(int program, int group, int partitions) {
    Expression[] keys = {literal(program), literal(group)};
    HashPartitioning hash = new HashPartitioning(ArraySeq.unsafeWrapArray(keys), partitions);
    return (Integer) hash.partitionIdExpression().eval(null);
  }

  private static Expression literal(int value) {
    return new Literal(value, DataTypes.IntegerType);
  }

  @Test
  void theNumbersAreTheSameForEver() {
    assertArrayEquals(new int[] {0, 1, 5, 2, 8, 3, 10, 4}, KeyGroups.numbers(1, 8, 2));
    assertArrayEquals(new int[] {1, 0, 3, 8, 2, 7, 14, 4}, KeyGroups.numbers(1, 8, 3));
  }

  @Test
  void noGroupsAreNone() {
    assertThrows(IllegalArgumentException.class, () -> KeyGroups.numbers(1, 0, 2));
  }
}
