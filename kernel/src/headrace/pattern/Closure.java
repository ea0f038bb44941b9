package headrace.pattern;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Where a partial match may wait next, and whether it is complete as it is.
 *
 * <p>While a pattern is compiled a closure may have parts that are not complete yet: what follows a repetition is, among others, its own
 * beginning. Afterwards they are {@link #resolve resolved}.
 */
final class Closure {
  private final List<Position> own = new ArrayList<>();
  private final List<Closure> parts = new ArrayList<>();
  private boolean ends;
  private Position[] positions;
  private boolean complete;

  static Closure end() {
    Closure closure = new Closure();
    closure.ends = true;
    return closure;
  }

  Closure add(Position position) {
    own.add(position);
    return this;
  }

  Closure add(Closure part) {
    parts.add(part);
    return this;
  }

  /** Whether nothing was added but the end. */
  boolean isOnlyTheEnd() {
    return ends && own.isEmpty() && parts.isEmpty();
  }

  /** Says what is in it from now on: nothing is added any more. */
  void resolve() {
    if (positions == null) {
      boolean[] end = {false};
      positions = reached(end).toArray(new Position[0]);
      complete = end[0];
    }
  }

  /** The positions that are in it as yet. */
  List<Position> reached() {
    return reached(new boolean[1]);
  }

  private List<Position> reached(boolean[] end) {
    Set<Closure> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    BitSet numbers = new BitSet();
    List<Position> found = new ArrayList<>();
    collect(seen, numbers, found, end);
    return found;
  }

  private void collect(Set<Closure> seen, BitSet numbers, List<Position> found, boolean[] end) {
    if (!seen.add(this)) {
      return;
    }
    end[0] |= ends;
    for (Position position : own) {
      if (!numbers.get(position.number)) {
        numbers.set(position.number);
        found.add(position);
      }
    }
    for (Closure part : parts) {
      part.collect(seen, numbers, found, end);
    }
  }

  Position[] positions() {
    return positions;
  }

  /** Whether a partial match is a match as it is. */
  boolean isComplete() {
    return complete;
  }
}
