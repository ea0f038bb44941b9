package headrace.step;

import org.apache.spark.sql.types.StructType;

/**
 * One input of a step: what its rows look like, and where those go that came too late.
 *
 * @param row what comes beside the key
 * @param full where each column of a late row is among those of the key and then those of the row; null where the row has them all
 */
public record Side(StructType row, Integer latePort, StructType late, int[] full) {
  public Side {
    int columns = full == null ? row.size() : full.length;
    if (latePort != null && late.size() != columns + 1) {
      throw new IllegalArgumentException("late rows have " + (columns + 1) + " fields (the row, late_by_seconds), the late output declares "
          + late.size());
    }
  }
}
