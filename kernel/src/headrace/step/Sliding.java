package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Position;
import headrace.aggregate.Slots;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.trigger.Accumulation;
import headrace.trigger.Trigger;
import headrace.window.SlidingWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * For each event the window that ends with it: (time - size, time] of its key.
 *
 * <p>A pane is given when the watermark has passed the event; an event that comes after that changes the windows behind it, which are
 * given again. Body: number of events, and per event its time and place, its inputs, what is remembered of its panes, and the last pane
 * where it may have to be taken back; by time, then place.
 */
public final class Sliding extends KeyedStep<Sliding.Event> {
  /** One event of a key, which is also one window. */
  static final class Event {
    final Position position = new Position();
    final PaneState state = new PaneState();
    byte[] inputs;
    byte[] shown = {};
    boolean fresh;

    long time() {
      return position.time;
    }
  }

  private static final Comparator<Event> BY_TIME = Comparator.comparingLong(Event::time)
      .thenComparingInt((Event event) -> event.position.source).thenComparingInt(event -> event.position.partition)
      .thenComparingLong(event -> event.position.offset);

  private final SlidingWindow window;
  private final Layout layout;
  private final Trigger trigger;
  private final boolean retracts;
  private final PaneWriter panes;
  private final UnsafeRow inputs;

  public Sliding(Program program) {
    super(program, program.layout());
    window = (SlidingWindow) program.window();
    layout = program.layout();
    trigger = program.trigger();
    retracts = program.accumulation() == Accumulation.RETRACTING;
    panes = PaneWriter.of(program, layout);
    inputs = new UnsafeRow(program.inputs().size());
  }

  @Override
  void take(UnsafeRow exit, Position position) {
    if (judged >= program.closed(window.end(position.time))) {
      late(exit, position, window.end(position.time));
      return;
    }
    context.used(1);
    UnsafeRow key = exit.getStruct(Program.EXIT_KEY, program.key().size());
    Event event = new Event();
    event.position.at(position.time, position.source, position.partition, position.offset);
    event.inputs = exit.getStruct(Program.EXIT_INPUTS, program.inputs().size()).copy().getBytes();
    event.fresh = true;
    bring(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), event);
  }

  @Override
  long join(ByteReader history, List<Event> brought, ByteWriter out) {
    List<Event> events = history == null ? new ArrayList<>() : read(history);
    events.addAll(brought);
    events.sort(BY_TIME);
    // Each fresh event is in its own window and in those behind it that it is near enough to.
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i).fresh) {
        long time = events.get(i).time();
        for (int j = first(events, time); j < events.size() && reaches(time, events.get(j).time()); j++) {
          events.get(j).state.pending++;
        }
      }
    }
    return write(events, out);
  }

  /** The first of the events of a time; those of one time share their window. */
  private static int first(List<Event> events, long time) {
    int low = 0;
    int high = events.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (events.get(middle).time() < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Whether the window that ends with an event of a later time has one of this time. */
  private boolean reaches(long time, long later) {
    return time > later - window.size() || later < Long.MIN_VALUE + window.size();
  }

  @Override
  long look(byte[] content, long address, int length, ByteReader history, ByteWriter out, List<Output> given) {
    List<Event> events = read(history);
    TwoStacks stacks = new TwoStacks(layout);
    int in = 0;
    int gone = 0;
    for (Event event : events) {
      Trigger.Moment moment = moment(event);
      event.state.remember(passed);
      if (!trigger.fires(moment, event.state.shown(), event.state.pending, event.state.remembered())) {
        continue;
      }
      while (in < events.size() && events.get(in).time() <= event.time()) {
        Event next = events.get(in++);
        inputs.pointTo(next.inputs, next.inputs.length);
        stacks.push(inputs, next.position);
      }
      while (!reaches(events.get(gone).time(), event.time())) {
        stacks.pop();
        gone++;
      }
      panes.key().pointTo(content, address, length);
      give(event, stacks.result(), moment, given);
    }
    List<Event> left = new ArrayList<>();
    for (Event event : events) {
      if (header.watermark < program.closed(reach(event.time()))) {
        left.add(event);
      }
    }
    return left.isEmpty() ? NEVER : write(left, out);
  }

  private Trigger.Moment moment(Event event) {
    long end = window.end(event.time());
    return new Trigger.Moment(header.watermark >= end, header.watermark >= program.closed(end));
  }

  /** Until when the window of a later event may need this one. */
  private long reach(long time) {
    return time > Long.MAX_VALUE - window.size() ? Long.MAX_VALUE : time + window.size();
  }

  private void give(Event event, Slots slots, Trigger.Moment moment, List<Output> given) {
    long time = event.time();
    long end = window.end(time);
    long start = time < Long.MIN_VALUE + window.size() ? Long.MIN_VALUE : time - window.size();
    long index = event.state.index;
    Pane pane = event.state.give(moment.complete());
    PaneWriter.About about = new PaneWriter.About(start, time, end, pane, index, moment.closing());
    byte[] row = panes.give(slots, about, retracts ? List.of(event.shown) : List.of(), context, given);
    event.shown = retracts ? row : event.shown;
  }

  private List<Event> read(ByteReader in) {
    int count = in.readLength();
    List<Event> events = new ArrayList<>(count + 4);
    for (int i = 0; i < count; i++) {
      Event event = new Event();
      event.position.at(in.readSigned(), (int) in.readSigned(), (int) in.readUnsigned(), in.readSigned());
      event.inputs = in.readBytes();
      event.state.read(in);
      if (retracts) {
        event.shown = in.readBytes();
      }
      events.add(event);
    }
    return events;
  }

  private long write(List<Event> events, ByteWriter out) {
    long due = program.closed(reach(events.get(0).time()));
    out.writeUnsigned(events.size());
    for (Event event : events) {
      due = Math.min(due, due(event));
      out.writeSigned(event.position.time);
      out.writeSigned(event.position.source);
      out.writeUnsigned(event.position.partition);
      out.writeSigned(event.position.offset);
      out.writeBytes(event.inputs);
      event.state.write(out);
      if (retracts) {
        out.writeBytes(event.shown);
      }
    }
    return due;
  }

  private long due(Event event) {
    long end = window.end(event.time());
    if (!event.state.shown()) {
      return trigger.kind() == Trigger.Kind.FINAL ? program.closed(end) : end;
    }
    if (event.state.pending == 0) {
      return NEVER;
    }
    return event.fresh || trigger.counts(true) && trigger.after() != null && trigger.after().due(event.state.pending, 0)
        ? end : program.closed(end);
  }
}
