package headrace.pattern;

import java.util.List;

/**
 * A pattern as it was declared: what follows what, and how often.
 *
 * <p>Conditions are numbers of bits: whether an event fulfils them was computed before it came.
 *
 * @param steps the names of what takes events, in the order of the pattern
 * @param elements what follows each other
 * @param within how long after its first event a match must be complete in microseconds, or {@link #ANY_LENGTH}
 * @param skip what is given up once a match is found
 * @param limit how many partial matches a key may have
 * @param earlier the conditions that look at what was taken before: they are evaluated when they are wanted
 */
public record PatternSpec(List<String> steps, List<Element> elements, long within, Skip skip, Limit limit, long earlier) {
  public static final long ANY_LENGTH = 0;
  /** In the place of the most repetitions: there is no such. */
  public static final int UNBOUNDED = 0;
  /** In the place of a condition: every event fulfils it. */
  public static final int ALWAYS = -1;
  /** In the place of a condition: no event fulfils it. */
  public static final int NEVER = -1;

  /** How an event must follow the one that was taken before it. */
  public enum Contiguity {
    /** It is the very next one. */
    STRICT,
    /** It is the next one that fits. */
    RELAXED,
    /** It is any later one that fits. */
    ANY
  }

  /** How often, and how repetitions follow each other; {@code until} is the condition that ends them, or {@link #NEVER}. */
  public record Quantifier(int from, int to, boolean optional, boolean greedy, Contiguity inner, int until) {
    public Quantifier {
      if (from < 1 || to != UNBOUNDED && to < from) {
        throw new IllegalArgumentException("nothing is there " + from + " to " + to + " times");
      }
    }
  }

  /** A part of a pattern. */
  public sealed interface Element permits Taking, Group, Not {}

  /** A step that takes events; {@code within} is how long after the event before each, or {@link #ANY_LENGTH}. */
  public record Taking(int step, Contiguity contiguity, int condition, Quantifier times, long within) implements Element {}

  /** A pattern in the place of a step. */
  public record Group(List<Element> elements, Contiguity contiguity, Quantifier times) implements Element {}

  /** An event that must not come: as the very next one, or at all before what follows. */
  public record Not(boolean next, int condition, long within) implements Element {}

  /** How many partial matches a key may have, and what is done when there are more. */
  public record Limit(int most, WhenFull then) {
    /** What is given up. */
    public enum WhenFull {
      /** Those that began first. */
      DROP_OLDEST,
      /** Those that would be new. */
      DROP_NEWEST,
      /** Nothing: the pipeline stops. */
      FAIL
    }
  }

  /** What is given up once a match is found; {@code step} is told by its number where it says so. */
  public record Skip(Kind kind, int step) {
    /** Up to where no other match may have begun. */
    public enum Kind {
      NO_SKIP, TO_NEXT, PAST_LAST, TO_FIRST, TO_LAST
    }
  }
}
