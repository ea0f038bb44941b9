package headrace.pattern;

import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * The partial matches of one key: what its events, one after another, make of them.
 *
 * <p>A partial match is a selection of events and the set of positions that it waits in. An event may be taken, which makes a new partial
 * match, and may be left out, where the old one goes on; a selection is there once, whatever ways lead to it. Where something is given up
 * after a match, a match waits until nothing is left that began before it.
 */
public final class KeyMatches {
  /** A match that is held back. */
  private record Complete(Taken last, long time, long order) {}

  private static final Comparator<Complete> ORDER = Comparator.comparingLong((Complete one) -> one.last.first.number)
      .thenComparingLong(Complete::order).thenComparing(Complete::last, Taken::compare);

  private final Automaton automaton;
  private final PatternSpec pattern;
  private final boolean skips;
  private final Move move;
  private List<Partial> partials = new ArrayList<>();
  private List<Complete> complete = new ArrayList<>();
  private final Earlier earlier;
  private final List<List<Event>> nothing;
  private Consumer<Found> given;
  private long numbers;
  private long orders;
  private long givenUp;

  /** {@code earlier}: evaluates the conditions that look at what was taken before. */
  public KeyMatches(Automaton automaton, Earlier earlier) {
    this.automaton = automaton;
    this.earlier = earlier;
    pattern = automaton.pattern();
    nothing = Collections.nCopies(pattern.steps().size(), List.of());
    skips = pattern.skip().kind() != PatternSpec.Skip.Kind.NO_SKIP;
    move = new Move(automaton);
  }

  /** Begins with a key that has nothing; what is found goes to {@code found}. */
  public void open(Consumer<Found> found) {
    given = found;
    partials.clear();
    complete.clear();
    numbers = 0;
    orders = 0;
    givenUp = 0;
  }

  public boolean isEmpty() {
    return partials.isEmpty() && complete.isEmpty();
  }

  /** How many partial matches were given up, since the key had too many. */
  public long givenUp() {
    return givenUp;
  }

  /** The time at which something happens without an event, or {@link Long#MAX_VALUE}. */
  public long due() {
    long due = Deadline.NEVER;
    for (Partial partial : partials) {
      due = Math.min(due, partial.deadline());
    }
    return due;
  }

  // ------------------------------------------------------------------ events

  /** The next event in the key's order. */
  public void take(Event event) {
    expire(event.time);
    boolean begins = automaton.mayBegin(event.fulfils);
    if (partials.isEmpty() && !begins) {
      return;
    }
    event.number = numbers++;
    orders++;
    List<Partial> next = new ArrayList<>(partials.size() + 1);
    List<Partial> fresh = new ArrayList<>();
    int before = complete.size();
    for (Partial partial : partials) {
      advance(partial, event, next, fresh);
    }
    if (begins) {
      begin(event, fresh);
    }
    next.addAll(fresh);
    partials = limited(next);
    if (complete.size() > before) {
      complete.subList(before, complete.size()).sort(ORDER);
    }
    release(event.time);
  }

  /** Gives partial matches up where there are too many; they are in the order in which they were made. */
  private List<Partial> limited(List<Partial> all) {
    int most = pattern.limit().most();
    int many = all.size() - most;
    if (many <= 0) {
      return all;
    }
    givenUp += many;
    return switch (pattern.limit().then()) {
      case DROP_NEWEST -> new ArrayList<>(all.subList(0, most));
      case DROP_OLDEST -> {
        long[] begun = all.stream().mapToLong(partial -> partial.taken.first.number).sorted().toArray();
        // Of those that began with the same event the first ones go.
        int same = many - (int) Arrays.stream(begun).filter(number -> number < begun[many]).count();
        List<Partial> left = new ArrayList<>(most);
        for (Partial partial : all) {
          long number = partial.taken.first.number;
          if (number > begun[many] || number == begun[many] && same-- <= 0) {
            left.add(partial);
          }
        }
        yield left;
      }
      case FAIL -> throw new IllegalStateException("a key has more than " + most + " partial matches of the pattern: give it a shorter "
          + "within, stricter conditions or a higher max_partial, or let when_full drop some of them");
    };
  }

  private void begin(Event event, List<Partial> fresh) {
    Position[] start = automaton.start().positions();
    move.from(start, fulfils(event, start, null));
    takeAll(null, event, fresh);
  }

  private void advance(Partial partial, Event event, List<Partial> next, List<Partial> fresh) {
    move.from(partial.positions, fulfils(event, partial.positions, partial.taken));
    if (move.completes() && !partial.given) {
      partial.given = true;
      complete.add(new Complete(partial.taken, event.time, orders));
    }
    if (move.stays()) {
      partial.moveTo(move.staying(partial.positions), pattern);
      next.add(partial);
    }
    takeAll(partial.taken, event, fresh);
  }

  /** The conditions that an event fulfils, also those that look at what was taken before it. */
  private long fulfils(Event event, Position[] positions, Taken before) {
    if (pattern.earlier() == 0) {
      return event.fulfils;
    }
    long wanted = 0;
    for (Position position : positions) {
      wanted |= position.earlier;
    }
    if (wanted == 0) {
      return event.fulfils;
    }
    List<List<Event>> taken = before == null ? nothing : Found.events(before, pattern.steps().size());
    return event.fulfils | earlier.fulfilled(wanted, event, taken);
  }

  private void takeAll(Taken before, Event event, List<Partial> fresh) {
    for (int i = 0; i < move.takes(); i++) {
      Taken taken = new Taken(event, move.step(i), before);
      if (move.isMatch(i)) {
        complete.add(new Complete(taken, event.time, orders));
      }
      if (move.taken(i).length > 0) {
        fresh.add(new Partial(taken, move.taken(i), move.isMatch(i), pattern));
      }
    }
  }

  // ------------------------------------------------------------------ time

  /** Time has come so far: no event before it will come any more. */
  public void expire(long to) {
    for (long due = due(); due <= to && due != Deadline.NEVER; due = due()) {
      expireAt(due);
    }
  }

  private void expireAt(long time) {
    orders++;
    List<Partial> left = new ArrayList<>(partials.size());
    int before = complete.size();
    List<Partial> over = new ArrayList<>();
    for (Partial partial : partials) {
      if (partial.deadline() > time) {
        left.add(partial);
        continue;
      }
      boolean ends = false;
      List<Position> waiting = new ArrayList<>();
      for (Position position : partial.positions) {
        if (Deadline.of(partial.taken, position, pattern) > time) {
          waiting.add(position);
        } else {
          ends |= endsWithTime(position);
        }
      }
      if (ends && !partial.given) {
        partial.given = true;
        complete.add(new Complete(partial.taken, time, orders));
      }
      if (waiting.isEmpty()) {
        over.add(partial);
      } else {
        partial.moveTo(waiting.toArray(new Position[0]), pattern);
        left.add(partial);
      }
    }
    partials = left;
    complete.subList(before, complete.size()).sort(ORDER);
    for (Partial partial : over) {
      if (!partial.given) {
        given.accept(Found.of(partial.taken, pattern.steps().size(), time, false));
      }
    }
    release(time);
  }

  /** Nothing comes any more, and no time either: what may end here does. */
  public void end() {
    expire(Deadline.NEVER);
    orders++;
    int before = complete.size();
    for (Partial partial : partials) {
      if (!partial.given && Arrays.stream(partial.positions).anyMatch(KeyMatches::endsWithTime)) {
        complete.add(new Complete(partial.taken, partial.taken.event.time, orders));
      }
    }
    partials.clear();
    complete.subList(before, complete.size()).sort(ORDER);
    release(Deadline.NEVER);
  }

  /** Whether a partial match that waits there is a match when nothing comes. */
  private static boolean endsWithTime(Position position) {
    return position.kind != Position.Kind.TAKING || position.isGreedy() && position.behind.isComplete();
  }

  // ------------------------------------------------------------------ matches

  /** Gives the matches that nothing can come before any more, and gives up what is skipped. */
  private void release(long time) {
    if (!skips) {
      for (Complete match : complete) {
        give(match, time);
      }
      complete.clear();
      return;
    }
    if (complete.isEmpty()) {
      return;
    }
    complete.sort(ORDER);
    long[] begun = partials.stream().mapToLong(partial -> partial.taken.first.number).sorted().toArray();
    long from = 0;
    int open = 0;
    int at = 0;
    for (; at < complete.size(); at++) {
      Complete match = complete.get(at);
      long first = match.last.first.number;
      if (first < from) {
        continue;
      }
      while (open < begun.length && begun[open] < from) {
        open++;
      }
      if (open < begun.length && begun[open] < first) {
        break;
      }
      give(match, time);
      from = Math.max(from, skipped(match.last));
    }
    long kept = from;
    complete = new ArrayList<>(complete.subList(at, complete.size()));
    complete.removeIf(match -> match.last.first.number < kept);
    partials.removeIf(partial -> partial.taken.first.number < kept);
  }

  private void give(Complete match, long time) {
    given.accept(Found.of(match.last, pattern.steps().size(), time == Deadline.NEVER ? match.time : time, true));
  }

  /** The number of the first event that another match may begin with. */
  private long skipped(Taken match) {
    int step = pattern.skip().step();
    return switch (pattern.skip().kind()) {
      case NO_SKIP -> 0;
      case TO_NEXT -> match.first.number + 1;
      case PAST_LAST -> match.event.number + 1;
      case TO_FIRST -> Arrays.stream(match.path()).filter(one -> one.step == step).mapToLong(one -> one.event.number).findFirst().orElse(0);
      case TO_LAST -> Arrays.stream(match.path()).filter(one -> one.step == step).mapToLong(one -> one.event.number).max().orElse(0);
    };
  }

  // ------------------------------------------------------------------ bytes

  /**
   * Writes what the key has, nothing where it has nothing.
   *
   * <p>Bytes: the events that are still needed, each with its time since the one before and its row; what was taken of them, each with
   * its event, its step and what was taken before it; the partial matches, each with what it took last, whether it was given, and its
   * positions; and the matches that are held back.
   */
  public void write(ByteWriter out) {
    if (isEmpty()) {
      return;
    }
    List<Taken> taken = new ArrayList<>();
    partials.forEach(partial -> unplaced(partial.taken));
    complete.forEach(match -> unplaced(match.last));
    partials.forEach(partial -> place(partial.taken, taken));
    complete.forEach(match -> place(match.last, taken));
    Event[] events = taken.stream().map(one -> one.event).distinct().sorted(Comparator.comparingLong(one -> one.number)).toArray(Event[]::new);
    out.writeUnsigned(events.length);
    long time = 0;
    for (int i = 0; i < events.length; i++) {
      events[i].place = i;
      out.writeSigned(events[i].time - time);
      time = events[i].time;
      out.writeUnsigned(events[i].length());
      out.writeRaw(events[i].bytes(), events[i].at(), events[i].length());
    }
    out.writeUnsigned(taken.size());
    for (Taken each : taken) {
      out.writeUnsigned(each.event.place);
      out.writeUnsigned(each.step);
      out.writeUnsigned(each.before == null ? 0 : each.before.place);
    }
    out.writeUnsigned(partials.size());
    for (Partial partial : partials) {
      out.writeUnsigned(partial.taken.place);
      out.writeByte(partial.given ? 1 : 0);
      out.writeUnsigned(partial.positions.length);
      for (Position position : partial.positions) {
        out.writeUnsigned(position.number);
      }
    }
    complete.sort(Comparator.comparingLong(Complete::order));
    out.writeUnsigned(complete.size());
    for (Complete match : complete) {
      out.writeUnsigned(match.last.place);
      out.writeSigned(match.time);
      out.writeUnsigned(match.order);
    }
  }

  private static void unplaced(Taken last) {
    for (Taken each = last; each != null; each = each.before) {
      each.place = 0;
    }
  }

  /** Numbers what was taken from 1 on, each behind what was taken before it. */
  private static void place(Taken last, List<Taken> taken) {
    if (last.place != 0) {
      return;
    }
    List<Taken> fresh = new ArrayList<>();
    for (Taken each = last; each != null && each.place == 0; each = each.before) {
      fresh.add(each);
    }
    for (int i = fresh.size() - 1; i >= 0; i--) {
      taken.add(fresh.get(i));
      fresh.get(i).place = taken.size();
    }
  }

  /** Reads what {@link #write} wrote. */
  public void read(ByteReader in) {
    Event[] events = new Event[in.readLength()];
    long time = 0;
    for (int i = 0; i < events.length; i++) {
      time += in.readSigned();
      int length = in.readLength();
      events[i] = new Event(time, 0, in.array(), in.position(), length);
      events[i].number = i;
      in.skip(length);
    }
    numbers = events.length;
    Taken[] taken = new Taken[in.readLength() + 1];
    for (int i = 1; i < taken.length; i++) {
      Event event = events[in.readLength()];
      int step = in.readLength();
      taken[i] = new Taken(event, step, taken[in.readLength()]);
    }
    for (int left = in.readLength(); left > 0; left--) {
      Taken last = taken[in.readLength()];
      boolean was = in.readByte() != 0;
      Position[] positions = new Position[in.readLength()];
      for (int i = 0; i < positions.length; i++) {
        positions[i] = automaton.position(in.readLength());
      }
      partials.add(new Partial(last, positions, was, pattern));
    }
    for (int left = in.readLength(); left > 0; left--) {
      Taken last = taken[in.readLength()];
      long at = in.readSigned();
      long order = in.readUnsigned();
      orders = Math.max(orders, order);
      complete.add(new Complete(last, at, order));
    }
  }
}
