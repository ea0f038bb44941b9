package headrace.clock;

import java.util.Map;
import java.util.Set;

/**
 * Which sources must wait, so that a fast one does not run hours ahead and fill the state with windows that
 * the slow one keeps open.
 *
 * <p>A source waits while it is further than a bound ahead of the slowest source of a common step that has
 * more unread rows than its next epoch takes. One that is idle, caught up, about to be, or never heard of
 * holds nobody: all of it will be read at once, or nothing says where it is. The slowest of all never waits,
 * so there is always one that goes on. A source overshoots by one epoch at most.
 */
final class Alignment {
  private Alignment() {}

  /**
   * How far a source is.
   *
   * @param time the lowest event time that an unread partition has come to, NONE when that is not known
   * @param behind whether there are more unread rows than the next epoch takes
   */
  record Progress(long time, boolean behind) {}

  static boolean held(String source, Map<String, Progress> progress, Set<String> together, long boundMicros) {
    Progress own = progress.get(source);
    if (boundMicros <= 0 || own == null || own.time() == EpochWatermarks.NONE) {
      return false;
    }
    for (String other : together) {
      Progress theirs = progress.get(other);
      if (other.equals(source) || theirs == null || !theirs.behind() || theirs.time() == EpochWatermarks.NONE) {
        continue;
      }
      // Below zero if they are further apart than a long can say.
      long ahead = own.time() - theirs.time();
      if (own.time() > theirs.time() && (ahead > boundMicros || ahead < 0)) {
        return true;
      }
    }
    return false;
  }
}
