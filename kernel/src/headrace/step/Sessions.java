package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Position;
import headrace.aggregate.Slots;
import headrace.aggregate.Span;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.trigger.Accumulation;
import headrace.trigger.Trigger;
import headrace.window.SessionWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Sessions: the events of a key that are less than a gap apart, merged as events come between them.
 *
 * <p>Events come combined by stretches of a gap, which no session can divide; those that are late by themselves come in full, and are
 * used if they overlap a session that is still kept. Body: number of sessions, and per session what is remembered of its panes, its
 * accumulators (its span among them), and the panes to be taken back.
 */
public final class Sessions extends KeyedStep<Sessions.Session> {
  /** One session of a key, or an event that may become a part of one. */
  static final class Session {
    final Slots slots;
    final PaneState state = new PaneState();
    List<byte[]> shown = List.of();
    long start;
    long end;
    boolean changed;
    /** The row itself and its place, while it is not known whether it is late. */
    byte[] row;
    Position position;

    Session(Slots slots) {
      this.slots = slots;
    }

    boolean overlaps(Session other) {
      return start < other.end && other.start < end;
    }

    static int byStart(Session one, Session other) {
      int order = Long.compare(one.start, other.start);
      return order == 0 ? Long.compare(one.end, other.end) : order;
    }
  }

  private final SessionWindow window;
  private final Span span = new Span();
  private final Layout layout;
  private final Trigger trigger;
  private final boolean discards;
  private final boolean retracts;
  private final PaneWriter panes;
  private final UnsafeRow late = new UnsafeRow(Program.EXIT_FIELDS);

  public Sessions(Program program) {
    super(program, program.layout());
    window = (SessionWindow) program.window();
    layout = Layout.spanning(program.aggregates(), this.span);
    trigger = program.trigger();
    discards = program.accumulation() == Accumulation.DISCARDING;
    retracts = program.accumulation() == Accumulation.RETRACTING;
    panes = PaneWriter.of(program, layout);
  }

  @Override
  public void onPartials(Position position, long slice, byte[] entries) {
    ByteReader in = Partials.open(entries);
    while (in.hasRemaining()) {
      int length = in.readLength();
      long address = in.address();
      in.skip(length);
      in.readLength();
      Session session = new Session(layout.scratch());
      layout.read(session.slots, in);
      bound(session);
      session.state.pending = layout.rows(session.slots);
      session.changed = true;
      context.used(session.state.pending);
      bring(entries, address, length, session);
    }
  }

  @Override
  void take(UnsafeRow exit, Position position) {
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size());
    UnsafeRow inputs = exit.getStruct(Program.EXIT_INPUTS, program.inputs().size());
    Session session = new Session(layout.scratch());
    layout.add(session.slots, inputs, position);
    bound(session);
    session.state.pending = 1;
    session.changed = true;
    if (judged >= program.closed(session.end)) {
      session.row = exit.copy().getBytes();
      session.position = new Position().at(position.time, position.source, position.partition, position.offset);
    } else {
      context.used(1);
    }
    bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), session);
  }

  private void bound(Session session) {
    session.start = span.first(session.slots);
    session.end = window.end(span.last(session.slots));
  }

  @Override
  long join(ByteReader history, List<Session> brought, ByteWriter out) {
    List<Session> sessions = history == null ? new ArrayList<>() : read(history);
    List<Session> doubtful = new ArrayList<>();
    for (Session session : brought) {
      (session.row == null ? sessions : doubtful).add(session);
    }
    sessions = merged(sessions);
    // From the last back: each that finds a session may lead the one before it there.
    doubtful.sort(Comparator.comparingLong((Session each) -> each.start).reversed());
    boolean found = true;
    while (found && !doubtful.isEmpty()) {
      found = false;
      for (int i = 0; i < doubtful.size(); i++) {
        Session one = doubtful.get(i);
        if (sessions.stream().anyMatch(one::overlaps)) {
          doubtful.remove(i--);
          one.row = null;
          context.used(1);
          sessions.add(one);
          sessions = merged(sessions);
          found = true;
        }
      }
    }
    for (Session one : doubtful) {
      late.pointTo(one.row, one.row.length);
      late(late, one.position, one.end);
    }
    return write(sessions, out, true);
  }

  private List<Session> merged(List<Session> sessions) {
    if (sessions.size() < 2) {
      return sessions;
    }
    sessions.sort(Session::byStart);
    List<Session> merged = new ArrayList<>();
    Session last = null;
    for (Session next : sessions) {
      if (last == null || !last.overlaps(next)) {
        merged.add(next);
        last = next;
        continue;
      }
      layout.merge(last.slots, next.slots);
      last.state.join(next.state);
      last.shown = both(last.shown, next.shown);
      last.changed |= next.changed;
      last.end = Math.max(last.end, next.end);
      if (last.end > judged) {
        last.state.shown(false);
      }
    }
    return merged;
  }

  private static List<byte[]> both(List<byte[]> some, List<byte[]> more) {
    if (some.isEmpty() || more.isEmpty()) {
      return some.isEmpty() ? more : some;
    }
    List<byte[]> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }

  @Override
  long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given) {
    List<Session> sessions = read(history);
    List<Session> left = new ArrayList<>();
    for (Session session : sessions) {
      Trigger.Moment moment = new Trigger.Moment(header.watermark >= session.end, header.watermark >= program.closed(session.end));
      session.state.remember(passed);
      if (trigger.fires(moment, session.state.shown(), session.state.pending, session.state.remembered())) {
        panes.key().pointTo(content, address, length);
        give(session, moment, given);
      }
      if (!moment.closing()) {
        left.add(session);
      }
    }
    return write(left, out, false);
  }

  private void give(Session session, Trigger.Moment moment, List<Output> given) {
    long index = session.state.index;
    Pane pane = session.state.give(moment.complete());
    PaneWriter.About about = new PaneWriter.About(session.start, session.end, session.end, pane, index, moment.closing());
    byte[] row = panes.give(session.slots, about, session.shown, context, given);
    session.shown = retracts ? List.of(row) : List.of();
    if (discards) {
      long first = span.first(session.slots);
      long last = span.last(session.slots);
      layout.clear(session.slots);
      span.widen(session.slots, first, last);
    }
  }

  private List<Session> read(ByteReader in) {
    int count = in.readLength();
    List<Session> sessions = new ArrayList<>(count + 1);
    for (int i = 0; i < count; i++) {
      Session session = new Session(layout.scratch());
      session.state.read(in);
      layout.read(session.slots, in);
      bound(session);
      if (retracts) {
        byte[][] shown = new byte[in.readLength()][];
        for (int j = 0; j < shown.length; j++) {
          shown[j] = in.readBytes();
        }
        session.shown = List.of(shown);
      }
      sessions.add(session);
    }
    return sessions;
  }

  /** Writes the sessions that a key has; none at all only after a look, where the key is forgotten then. */
  private long write(List<Session> sessions, ByteWriter out, boolean joined) {
    if (sessions.isEmpty() && !joined) {
      return NEVER;
    }
    // A key without sessions was brought by a row that turned out to be late: the look that follows forgets it.
    long due = sessions.isEmpty() ? Context.NO_WATERMARK : NEVER;
    out.writeUnsigned(sessions.size());
    for (Session session : sessions) {
      due = Math.min(due, due(session, joined));
      session.state.write(out);
      layout.write(session.slots, out);
      if (retracts) {
        out.writeUnsigned(session.shown.size());
        session.shown.forEach(out::writeBytes);
      }
    }
    return due;
  }

  private long due(Session session, boolean joined) {
    boolean complete = header.watermark >= session.end;
    if (joined && session.changed && trigger.counts(complete)) {
      return Context.NO_WATERMARK;
    }
    boolean waits = trigger.kind() == Trigger.Kind.AT_WATERMARK && !session.state.shown();
    return waits ? session.end : program.closed(session.end);
  }
}
