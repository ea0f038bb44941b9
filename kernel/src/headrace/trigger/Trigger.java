package headrace.trigger;

import java.util.ArrayList;
import java.util.List;

/**
 * When a key's window gives a pane.
 *
 * <p>{@code AT_WATERMARK}: when the watermark reaches its end, before that when {@code before} is due, after it when {@code after} is.
 * {@code FINAL}: once, when nothing can change it any more. {@code WHEN}: whenever {@code before} is due.
 */
public record Trigger(Kind kind, Condition before, Condition after) {
  /** The forms that a trigger has. */
  public enum Kind { AT_WATERMARK, FINAL, WHEN }

  /** The bits of moments follow that of a pane at the watermark. */
  public static final int MOMENTS = 7;

  public static final Trigger FINAL = new Trigger(Kind.FINAL, null, null);
  public static final Trigger AT_WATERMARK = new Trigger(Kind.AT_WATERMARK, null, new Condition.AfterCount(1));

  public Trigger {
    if (moments(before, after).size() > MOMENTS) {
      throw new IllegalArgumentException("a trigger has at most " + MOMENTS + " intervals");
    }
  }

  /** What is known of a key and window at the end of an epoch. */
  public record Moment(boolean complete, boolean closing) {}

  /** Whether a window gives one pane and no other. */
  public boolean once(long lateness) {
    return kind == Kind.FINAL || kind == Kind.AT_WATERMARK && before == null && lateness == 0;
  }

  /** Whether the key and window give a pane now. */
  public boolean fires(Moment moment, boolean shown, long pending, int remembered) {
    return switch (kind) {
      case FINAL -> moment.closing && !shown;
      case WHEN -> pending > 0 && (moment.closing || before.due(pending, remembered));
      case AT_WATERMARK -> moment.complete
          ? !shown || pending > 0 && (moment.closing || after.due(pending, remembered))
          : before != null && pending > 0 && before.due(pending, remembered);
    };
  }

  /** Whether rows alone can bring a pane, without time going on. */
  public boolean counts(boolean complete) {
    Condition condition = kind == Kind.WHEN || !complete ? before : after;
    return complete && kind == Kind.AT_WATERMARK || condition != null && condition.counts();
  }

  /** The bits of the moments that passed between two ticks; {@code before} is the tick of an earlier epoch. */
  public int passed(long earlier, long now) {
    int bits = 0;
    for (Condition.Every moment : moments(before, after)) {
      bits |= moment.passed(earlier, now) ? moment.bit() : 0;
    }
    return bits;
  }

  private static List<Condition.Every> moments(Condition before, Condition after) {
    List<Condition.Every> moments = new ArrayList<>();
    if (before != null) {
      moments.addAll(before.moments());
    }
    if (after != null) {
      moments.addAll(after.moments());
    }
    return moments;
  }
}
