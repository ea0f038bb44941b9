package headrace.trigger;

import java.util.List;

/** When the pending rows of a key and window are worth a pane: a tree of counts and of moments of the wall clock. */
public sealed interface Condition {
  /**
   * Whether it is due.
   *
   * @param pending rows since the last pane
   * @param remembered a bit for every moment that passed since the last pane, see {@link Every#bit}
   */
  boolean due(long pending, int remembered);

  /** The moments in the tree. */
  List<Every> moments();

  /** Whether rows alone can make it due. */
  boolean counts();

  /** So many rows. */
  record AfterCount(long rows) implements Condition {
    @Override
    public boolean due(long pending, int remembered) {
      return pending >= rows;
    }

    @Override
    public List<Every> moments() {
      return List.of();
    }

    @Override
    public boolean counts() {
      return true;
    }
  }

  /** The wall clock passed a multiple of the interval. The bit is the moment's own within its trigger. */
  record Every(long micros, int bit) implements Condition {
    @Override
    public boolean due(long pending, int remembered) {
      return (remembered & bit) != 0;
    }

    @Override
    public List<Every> moments() {
      return List.of(this);
    }

    @Override
    public boolean counts() {
      return false;
    }

    /** Whether a multiple of the interval lies after {@code before} and not after {@code now}, in milliseconds. */
    public boolean passed(long before, long now) {
      return Math.floorDiv(now * 1000, micros) > Math.floorDiv(before * 1000, micros);
    }
  }

  /** All of them, or any. */
  record Several(List<Condition> parts, boolean all) implements Condition {
    public Several {
      parts = List.copyOf(parts);
    }

    @Override
    public boolean due(long pending, int remembered) {
      for (Condition part : parts) {
        if (part.due(pending, remembered) != all) {
          return !all;
        }
      }
      return all;
    }

    @Override
    public List<Every> moments() {
      return parts.stream().flatMap(part -> part.moments().stream()).toList();
    }

    @Override
    public boolean counts() {
      return parts.stream().anyMatch(Condition::counts);
    }
  }
}
