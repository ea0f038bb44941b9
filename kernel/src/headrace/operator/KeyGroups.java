package headrace.operator;

import java.util.Arrays;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * The numbers of key groups, chosen so that Spark's hash deals them evenly to the state partitions.
 *
 * <p>Spark sends (program, group) to the partition {@code pmod(murmur3(program, group), partitions)}. Plain numbers 0, 1, 2 … land on
 * some partitions twice as often as on others; these land on each in turn.
 */
public final class KeyGroups {
  private static final int SEED = 42;

  private KeyGroups() {}

  /** Group i gets the next number that falls on partition {@code i % partitions}. */
  public static int[] numbers(int program, int groups, int partitions) {
    if (groups < 1 || partitions < 1) {
      throw new IllegalArgumentException("there are no " + groups + " groups on " + partitions + " partitions");
    }
    int[] numbers = new int[groups];
    int[] next = new int[partitions];
    Arrays.fill(next, 0);
    for (int i = 0; i < groups; i++) {
      int partition = i % partitions;
      int number = next[partition];
      while (partition(program, number, partitions) != partition) {
        number++;
      }
      numbers[i] = number;
      next[partition] = number + 1;
    }
    return numbers;
  }

  /** The partition that Spark's HashPartitioning of (program int, group int) chooses. */
  static int partition(int program, int group, int partitions) {
    return Math.floorMod(Murmur3_x86_32.hashInt(group, Murmur3_x86_32.hashInt(program, SEED)), partitions);
  }
}
