package headrace.pattern;

import headrace.pattern.PatternSpec.Contiguity;
import headrace.pattern.PatternSpec.Element;
import headrace.pattern.PatternSpec.Group;
import headrace.pattern.PatternSpec.Not;
import headrace.pattern.PatternSpec.Quantifier;
import headrace.pattern.PatternSpec.Taking;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A pattern compiled: the positions in which partial matches wait, numbered alike each time.
 *
 * <p>It is compiled from its end to its beginning, since an element leads to what follows it. Repetitions that are counted are positions
 * one behind the other; one that is not is a position that leads to itself. Since a partial match waits in a set of positions, each
 * selection of events is one partial match, however many ways through the pattern there are.
 */
public final class Automaton {
  /** In the place of conditions: every event will do. */
  static final long ANY = 0;
  private static final int MOST_POSITIONS = 10_000;

  private final PatternSpec pattern;
  private final List<Position> positions = new ArrayList<>();
  private final Closure start;
  private final long begins;

  public Automaton(PatternSpec pattern) {
    this.pattern = pattern;
    start = compiled(pattern.elements(), Closure.end(), null, 0);
    start.resolve();
    for (Position position : positions) {
      position.taken.resolve();
      if (position.isGreedy()) {
        position.behind.resolve();
      }
    }
    for (Position position : positions) {
      if (position.isGreedy()) {
        position.follows = conditions(position.behind);
      }
    }
    for (Position position : positions) {
      position.earlier = looked(position, new BitSet()) & pattern.earlier();
    }
    long first = conditions(start);
    begins = (first & pattern.earlier()) == 0 ? first : ANY;
  }

  public PatternSpec pattern() {
    return pattern;
  }

  Closure start() {
    return start;
  }

  Position position(int number) {
    return positions.get(number);
  }

  /** How many positions there are. */
  int size() {
    return positions.size();
  }

  /** Whether an event of these conditions can be the first one of a match. */
  public boolean mayBegin(long event) {
    return begins == ANY || (event & begins) != 0;
  }

  /** The conditions of which one holds for the next event that is taken; {@link #ANY} where any event may be, or none is wanted. */
  private static long conditions(Closure from) {
    long conditions = 0;
    List<Position> left = new ArrayList<>(List.of(from.positions()));
    for (int i = 0; i < left.size(); i++) {
      Position position = left.get(i);
      if (position.kind != Position.Kind.TAKING || position.condition == PatternSpec.ALWAYS) {
        return ANY;
      }
      conditions |= bit(position.condition);
      if (position.isGreedy()) {
        for (Position behind : position.behind.positions()) {
          if (!left.contains(behind)) {
            left.add(behind);
          }
        }
      }
    }
    return left.isEmpty() ? ANY : conditions;
  }

  /** All conditions that are looked at where an event comes to a position. */
  private static long looked(Position position, BitSet seen) {
    if (seen.get(position.number)) {
      return 0;
    }
    seen.set(position.number);
    long conditions = bit(position.condition) | position.until | position.halts | position.stops | position.notNext | position.follows;
    if (position.isGreedy()) {
      for (Position behind : position.behind.positions()) {
        conditions |= looked(behind, seen);
      }
    }
    return conditions;
  }

  // ------------------------------------------------------------------ compiling

  /** @param head how the first element follows what is before, where that is not its own affair */
  private Closure compiled(List<Element> elements, Closure after, Contiguity head, long until) {
    Closure next = after;
    long stops = 0;
    List<Not> nots = new ArrayList<>();
    for (int i = elements.size() - 1; i >= 0; i--) {
      Element element = elements.get(i);
      if (element instanceof Not not) {
        nots.add(0, not);
        continue;
      }
      if (!nots.isEmpty()) {
        next = guarded(next, nots);
        stops = nots.stream().filter(not -> !not.next()).mapToLong(not -> bit(not.condition())).reduce(0, (one, other) -> one | other);
        nots.clear();
      }
      Contiguity contiguity = i == 0 ? head : null;
      next = element instanceof Taking step ? compiled(step, next, contiguity, stops, until)
          : compiled((Group) element, next, contiguity, stops, until);
      stops = 0;
    }
    if (!nots.isEmpty()) {
      throw new IllegalArgumentException("a pattern cannot begin with what must not come");
    }
    return next;
  }

  private Closure compiled(Taking step, Closure after, Contiguity head, long stops, long groupUntil) {
    Quantifier times = step.times();
    long until = groupUntil | bit(times.until());
    Closure next = after;
    if (times.to() == PatternSpec.UNBOUNDED) {
      Position loop = position(step, times.inner(), until, until, stops);
      next = leadingTo(loop, after, times);
      loop.taken = next;
    }
    for (int number = Math.max(times.from(), times.to()); number >= 1; number--) {
      boolean first = number == 1;
      Contiguity contiguity = !first ? times.inner() : head == null ? step.contiguity() : head;
      Position position = position(step, contiguity, until, first ? groupUntil : until, first ? 0 : stops);
      position.taken = next;
      boolean may = first ? times.optional() : number > times.from();
      next = may ? leadingTo(position, after, times) : new Closure().add(position);
    }
    return next;
  }

  /** To a repetition that need not be, or behind the step: behind a greedy one only with an event that it does not take. */
  private static Closure leadingTo(Position position, Closure after, Quantifier times) {
    if (times.greedy()) {
      position.behind = after;
      return new Closure().add(position);
    }
    return new Closure().add(position).add(after);
  }

  private Position position(Taking step, Contiguity contiguity, long until, long halts, long stops) {
    Position position = made(Position.Kind.TAKING);
    position.step = step.step();
    position.condition = step.condition();
    position.contiguity = contiguity;
    position.until = until;
    position.halts = halts;
    position.stops = stops;
    position.within = step.within();
    return position;
  }

  private Closure compiled(Group group, Closure after, Contiguity head, long stops, long outerUntil) {
    Quantifier times = group.times();
    long until = outerUntil | bit(times.until());
    Closure next = after;
    if (times.to() == PatternSpec.UNBOUNDED) {
      Closure again = new Closure();
      Closure loop = compiled(group.elements(), again, times.inner(), until);
      stop(loop, stops);
      again.add(loop).add(after);
      next = again;
    }
    for (int number = Math.max(times.from(), times.to()); number >= 1; number--) {
      boolean first = number == 1;
      Contiguity contiguity = !first ? times.inner() : head == null ? group.contiguity() : head;
      Closure begin = compiled(group.elements(), next, contiguity, until);
      if (!first) {
        stop(begin, stops);
      }
      boolean may = first ? times.optional() : number > times.from();
      next = may ? new Closure().add(begin).add(after) : begin;
    }
    return next;
  }

  private static void stop(Closure begin, long stops) {
    if (stops != 0) {
      for (Position position : begin.reached()) {
        position.stops |= stops;
      }
    }
  }

  /** What follows, where some events must not come before it: positions of their own, since others may lead to it, too. */
  private Closure guarded(Closure next, List<Not> nots) {
    long stops = 0;
    long notNext = 0;
    for (Not not : nots) {
      stops |= not.next() ? 0 : bit(not.condition());
      notNext |= not.next() ? bit(not.condition()) : 0;
    }
    if (next.isOnlyTheEnd()) {
      Position last = made(stops == 0 ? Position.Kind.SEEING_NEXT : Position.Kind.WAITING);
      last.within = nots.get(nots.size() - 1).within();
      guard(last, last, stops, notNext);
      return new Closure().add(last);
    }
    Closure made = new Closure();
    for (Position position : next.reached()) {
      made.add(guard(copied(position), position, stops, notNext));
    }
    return made;
  }

  private Position guard(Position guarded, Position of, long stops, long notNext) {
    guarded.stops |= stops;
    if (notNext == 0) {
      return guarded;
    }
    Position passed = stops == 0 && guarded != of ? of : copied(guarded);
    guarded.notNext = notNext;
    guarded.passing = passed;
    return guarded;
  }

  private Position copied(Position position) {
    Position copy = made(position.kind);
    copy.step = position.step;
    copy.condition = position.condition;
    copy.contiguity = position.contiguity;
    copy.until = position.until;
    copy.halts = position.halts;
    copy.stops = position.stops;
    copy.within = position.within;
    copy.taken = position.taken;
    copy.behind = position.behind;
    return copy;
  }

  private Position made(Position.Kind kind) {
    if (positions.size() == MOST_POSITIONS) {
      throw new IllegalArgumentException("the pattern has more than " + MOST_POSITIONS + " positions: give its steps smaller numbers of times");
    }
    Position position = new Position(positions.size(), kind);
    positions.add(position);
    return position;
  }

  private static long bit(int condition) {
    return condition < 0 ? 0 : 1L << condition;
  }
}
