package headrace.pattern;

import headrace.pattern.PatternSpec.Contiguity;

/** A place in a pattern where a partial match waits for events. */
final class Position {
  /** What happens there. */
  enum Kind {
    /** An event may be taken. */
    TAKING,
    /** The pattern ends in an event that must not come: the match is there when the time is over. */
    WAITING,
    /** The pattern ends in an event that must not be the next one: the match is there with any other, or when the time is over. */
    SEEING_NEXT
  }

  final int number;
  final Kind kind;
  int step = -1;
  int condition = PatternSpec.ALWAYS;
  Contiguity contiguity = Contiguity.RELAXED;
  /** What ends repetitions: an event that does so is not taken here... */
  long until;
  /** ...and these do not even let it pass. */
  long halts;
  /** What kills a partial match that waits here. */
  long stops;
  /** What kills it if it is the next event. */
  long notNext;
  /** How long after the event taken before, or {@link PatternSpec#ANY_LENGTH}. */
  long within;
  /** Where it waits when it has let an event pass. */
  Position passing;
  /** Where it waits when it has taken an event. */
  Closure taken = new Closure();
  /** Of a greedy step: what comes behind it, which is only tried with an event that the step does not take. */
  Closure behind;
  /** The conditions of which an event that is taken behind it fulfils one, or {@link Automaton#ANY}. */
  long follows;
  /** The conditions to be evaluated for an event that comes there: they look at what was taken before. */
  long earlier;

  Position(int number, Kind kind) {
    this.number = number;
    this.kind = kind;
    passing = this;
  }

  boolean isGreedy() {
    return behind != null;
  }

  boolean takes(long event) {
    return fulfils(event) && (event & until) == 0;
  }

  /** Whether the event may be left out. */
  boolean passes(long event) {
    return (event & halts) == 0 && switch (contiguity) {
      case STRICT -> false;
      case RELAXED -> !fulfils(event);
      case ANY -> true;
    };
  }

  /** Whether what is behind a greedy step is tried with an event. */
  boolean leaves(long event) {
    boolean takes = takes(event);
    return !takes && (follows == Automaton.ANY || (event & follows) != 0) || !takes && !passes(event);
  }

  boolean fulfils(long event) {
    return condition == PatternSpec.ALWAYS || (event >>> condition & 1) != 0;
  }
}
