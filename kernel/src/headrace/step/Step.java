package headrace.step;

import headrace.aggregate.Position;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * A machine that turns the inputs of one key group into outputs, epoch after epoch. It knows nothing of where it runs.
 *
 * <p>Per epoch: {@link #open}, then partials and rows in the order of (source, partition, offset), then the tick if there is one, then
 * {@link #close}. All that it remembers is in the context's cells when it has closed and its outputs are read. One machine serves many
 * groups, one at a time.
 */
public interface Step {
  void open(Context context);

  /** Events of one slice that were combined before they came. None of them may be late. */
  void onPartials(Position position, long slice, byte[] entries);

  /** One event of an input, which are numbered from 0; see {@link Program#EXIT_FIELDS}. It may be late, and is overwritten by the next one. */
  void onRow(int side, Position position, UnsafeRow exit);

  /** Time has come so far: the watermark, and the wall clock in milliseconds. */
  void onTick(long watermark, long processed);

  void close();
}
