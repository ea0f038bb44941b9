package headrace.pattern;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What an event does to a partial match, by the positions that this waits in; one after another, since it is used for every event. */
final class Move {
  private static final Position[] NOWHERE = {};

  private final int[] seen;
  private final int[] stayed;
  private int round;
  private final List<Position> staying = new ArrayList<>();
  private final List<Closure> taken = new ArrayList<>();
  private final List<Integer> steps = new ArrayList<>();
  private boolean completes;

  Move(Automaton automaton) {
    seen = new int[automaton.size()];
    stayed = new int[automaton.size()];
  }

  void from(Position[] positions, long event) {
    round++;
    staying.clear();
    taken.clear();
    steps.clear();
    completes = false;
    for (Position position : positions) {
      visit(position, event);
    }
  }

  private void visit(Position position, long event) {
    if (seen[position.number] == round) {
      return;
    }
    seen[position.number] = round;
    if ((event & (position.stops | position.notNext)) != 0) {
      return;
    }
    if (position.kind == Position.Kind.WAITING) {
      stay(position.passing);
      return;
    }
    if (position.kind == Position.Kind.SEEING_NEXT) {
      completes = true;
      return;
    }
    boolean takes = position.takes(event);
    if (takes) {
      taken.add(position.taken);
      steps.add(position.step);
    }
    if (position.passes(event)) {
      stay(position.passing);
    }
    if (position.isGreedy()) {
      completes |= !takes && position.behind.isComplete();
      if (position.leaves(event)) {
        for (Position behind : position.behind.positions()) {
          visit(behind, event);
        }
      }
    }
  }

  private void stay(Position position) {
    if (stayed[position.number] != round) {
      stayed[position.number] = round;
      staying.add(position);
    }
  }

  /** Whether it is a match now, without the event. */
  boolean completes() {
    return completes;
  }

  /** Whether the partial match goes on without the event. */
  boolean stays() {
    return !staying.isEmpty();
  }

  /** Where it goes on; {@code before} is where it was. */
  Position[] staying(Position[] before) {
    if (staying.size() == before.length && Arrays.asList(before).equals(staying)) {
      return before;
    }
    return staying.toArray(NOWHERE);
  }

  /** How many ways there are to take the event, one for each step. */
  int takes() {
    merge();
    return taken.size();
  }

  int step(int way) {
    return steps.get(way);
  }

  boolean isMatch(int way) {
    return taken.get(way).isComplete();
  }

  Position[] taken(int way) {
    return taken.get(way).positions();
  }

  /** Makes one way of those that take the event for one step: the selection is the same. */
  private void merge() {
    for (int i = 0; i < taken.size(); i++) {
      for (int other = taken.size() - 1; other > i; other--) {
        if (steps.get(i).equals(steps.get(other))) {
          if (taken.get(i) != taken.get(other)) {
            Closure both = new Closure().add(taken.get(i)).add(taken.get(other));
            both.resolve();
            taken.set(i, both);
          }
          taken.remove(other);
          steps.remove(other);
        }
      }
    }
  }
}
