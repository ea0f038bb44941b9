package headrace.step;

import headrace.window.SessionWindow;
import headrace.window.SlidingWindow;

/** The machine that a program runs on. */
public final class Steps {
  private Steps() {}

  public static Step of(Program program) {
    if (program.interval() != null) {
      return new IntervalJoin(program);
    }
    if (program.lookup() != null) {
      return new LookupJoin(program);
    }
    if (program.matching() != null) {
      return new MatchPattern(program);
    }
    if (program.table() != null) {
      return switch (program.table().kind()) {
        case LATEST -> new Latest(program);
        case GROUPS -> new Groups(program);
        case FOLD -> new Fold(program);
        case CHANGES -> new Changes(program);
        case JOIN -> new TableJoin(program);
        case NETTED -> new Netted(program);
      };
    }
    if (program.window() == null) {
      return program.stands() ? new Ranking(program) : new Dedup(program);
    }
    if (program.window() instanceof SessionWindow) {
      return new Sessions(program);
    }
    if (program.window() instanceof SlidingWindow) {
      return new Sliding(program);
    }
    return program.trigger().once(program.lateness()) ? new SinglePane(program) : new ManyPanes(program);
  }
}
