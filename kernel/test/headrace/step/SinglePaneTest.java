package headrace.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import headrace.state.MemoryCells;
import headrace.step.Events.Event;
import headrace.step.Events.Late;
import headrace.step.Events.Pane;
import headrace.window.AlignedWindows;
import headrace.window.Windows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SinglePaneTest {
  private static final AlignedWindows MINUTE = AlignedWindows.tumbling(60, 0);
  private final Program program = Events.program(MINUTE, false);
  private final MemoryCells cells = new MemoryCells();
  private long watermark = Context.NO_WATERMARK;

  /** One epoch on a machine that remembers nothing but the cells. */
  private List<Output> epoch(List<Event> full, List<Event> combined, Long tick) {
    return epoch(program, full, combined, tick);
  }

  private List<Output> epoch(Program ran, List<Event> full, List<Event> combined, Long tick) {
    watermark = tick == null ? watermark : Math.max(watermark, tick);
    Epoch epoch = new Epoch(5, cells, watermark, Context.NO_WATERMARK);
    full.forEach(event -> epoch.add(0, 0, event.partition(), event.offset(), event.time(), Events.exit(event)));
    Events.combined(ran, combined).forEach((start, bytes) -> epoch.add(Epoch.COMBINED, 0, 0, combined.get(0).offset(), start, bytes));
    if (tick != null) {
      epoch.tick(tick, 0);
    }
    List<Output> outputs = new ArrayList<>();
    epoch.run(new SinglePane(ran)).forEachRemaining(outputs::add);
    return outputs;
  }

  private static List<Pane> panes(List<Output> outputs) {
    return outputs.stream().filter(output -> output.port() == Events.PANES).map(Events::pane).toList();
  }

  private static List<Late> late(List<Output> outputs) {
    return outputs.stream().filter(output -> output.port() == Events.LATE).map(Events::late).toList();
  }

  private static Event event(String card, long amount, long time, long offset) {
    return new Event(card, amount, time, 0, offset);
  }

  @Test
  void aWindowFiresOnceWhenTheWatermarkReachesItsEnd() {
    assertEquals(List.of(), epoch(List.of(), List.of(event("a", 5, 0, 0), event("a", 7, 59, 1), event("b", 1, 60, 2)), 59L));
    List<Output> fired = epoch(List.of(), List.of(), 60L);
    assertEquals(List.of(new Pane("a", 0, 60, 12L, 2, 5L, 7L)), panes(fired));
    assertEquals(new Output(Events.PANES, 60, -7, 5, 0, fired.get(0).payload()), fired.get(0));
    assertEquals(List.of(), epoch(List.of(), List.of(), 61L));
    assertEquals(1, cells.size(), "the state of a fired window is gone");
  }

  @Test
  void aGroupInWhichNothingIsOpenKeepsNothingAndForgetsNothing() {
    epoch(List.of(), List.of(event("a", 5, 10, 0)), 0L);
    assertFalse(cells.isEmpty());
    assertEquals(1, panes(epoch(List.of(), List.of(), 60L)).size());
    assertTrue(cells.isEmpty(), cells.toString());
    assertEquals(List.of(new Late("a", 7, 0.0)), late(epoch(List.of(event("a", 7, 59, 1)), List.of(), null)));
    assertTrue(cells.isEmpty(), "late rows leave nothing behind: " + cells);
    assertEquals(List.of(), epoch(List.of(), List.of(), 61L));
    assertTrue(cells.isEmpty(), "time that goes on leaves nothing behind: " + cells);
  }

  @Test
  void anEventIsLateWhenTheWatermarkOfItsOwnEpochHasReachedItsWindowsEnd() {
    epoch(List.of(), List.of(event("a", 5, 10, 0)), 0L);
    List<Output> outputs = epoch(List.of(event("a", 7, 59, 1), event("a", 1, 60, 2)), List.of(), 60L);
    assertEquals(List.of(new Late("a", 7, 0.0)), late(outputs));
    assertEquals(List.of(new Pane("a", 0, 60, 5L, 1, 5L, 5L)), panes(outputs), "a row that is late does not enter the pane of its epoch");
    assertEquals(new Output(Events.LATE, 59, 0, 0, 1, outputs.get(0).payload()), outputs.get(0), "late rows keep their position");
    assertEquals(List.of(new Pane("a", 60, 120, 1L, 1, 1L, 1L)), panes(epoch(List.of(), List.of(), 120L)));
  }

  @Test
  void withoutATickTheRememberedWatermarkJudges() {
    epoch(List.of(), List.of(), 1_000_060L);
    assertEquals(List.of(new Late("a", 7, 1.0)), late(epoch(List.of(event("a", 7, 10, 1)), List.of(), null)));
  }

  @Test
  void aRowSentInFullThatIsNotLateIsCounted() {
    epoch(List.of(event("a", 7, 10, 0)), List.of(event("a", 5, 11, 1)), 59L);
    assertEquals(List.of(new Pane("a", 0, 60, 12L, 2, 7L, 5L)), panes(epoch(List.of(), List.of(), 60L)));
  }

  @Test
  void combinedEventsOfAClosedWindowAreRefused() {
    epoch(List.of(), List.of(), 60L);
    String message = assertThrows(IllegalStateException.class, () -> epoch(List.of(), List.of(event("a", 1, 3, 0)), null)).getMessage();
    assertTrue(message.contains("velocity") && message.contains("1970"), message);
  }

  @Test
  void theEndOfTimeFiresEverything() {
    long last = Long.MAX_VALUE - 3;
    epoch(List.of(), List.of(event("a", 1, -61, 0), event("a", 2, -1, 1), event("a", 3, last, 2), event("a", 4, Long.MIN_VALUE, 3)), null);
    List<Pane> fired = panes(epoch(List.of(), List.of(), Context.END));
    assertEquals(List.of(4L, 1L, 2L, 3L), fired.stream().map(Pane::total).toList());
    assertEquals(-120, fired.get(1).start());
    assertEquals(-60, fired.get(2).start());
    assertEquals(Long.MAX_VALUE, fired.get(3).end());
    assertEquals(0, cells.size());
    assertEquals(1, late(epoch(List.of(event("a", 5, last, 9)), List.of(), null)).size(), "nothing is counted after the end");
  }

  @Test
  void beforeTheFirstWatermarkNothingIsLateAndNothingFires() {
    assertEquals(List.of(), epoch(List.of(event("a", 1, Long.MIN_VALUE, 0)), List.of(), Context.NO_WATERMARK));
  }

  @Test
  void anOverflowIsNullInThePaneAndARowOfItsOwn() {
    Program narrow = Events.program(MINUTE, true);
    epoch(narrow, List.of(), List.of(event("a", 600, 1, 0), event("a", 600, 2, 1), event("b", 1, 3, 2)), null);
    List<Output> fired = epoch(narrow, List.of(), List.of(), 60L);
    assertEquals(3, fired.size());
    assertEquals(null, panes(fired).get(0).total());
    assertEquals(1L, panes(fired).get(1).total());
    String reason = Events.row(fired.stream().filter(output -> output.port() == Events.REJECTED).findFirst().orElseThrow(), 8)
        .getUTF8String(7).toString();
    assertEquals("sum total overflowed decimal(3,0) for key {card=a} window [1970-01-01T00:00:00Z, 1970-01-01T00:00:00.000060Z)", reason);
  }

  @Test
  void firingIsLazy() {
    for (int i = 0; i < 2000; i++) {
      epoch(List.of(), List.of(event("card-" + i, 1, 1, i)), null);
    }
    int pages = cells.size();
    assertTrue(pages > 5, "many keys take many pages");
    Epoch epoch = new Epoch(5, cells, 60, Context.NO_WATERMARK);
    epoch.tick(60, 0);
    Iterator<Output> outputs = epoch.run(new SinglePane(program));
    outputs.next();
    assertTrue(cells.size() >= pages - 1, "one page is read for the first pane");
    int count = 1;
    while (outputs.hasNext()) {
      outputs.next();
      count++;
    }
    assertEquals(2000, count);
    assertEquals(0, cells.size());
  }

  /** Random events, cut at random into epochs that are partly combined and shuffled, against a loop over all events. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void anyCutGivesTheAnswerOfOneLoop(long seed) {
    Random random = new Random(seed);
    Program ran = Events.program(AlignedWindows.tumbling(1 + random.nextInt(200), random.nextInt(50)), false);
    int cards = seed % 3 == 0 ? 3000 : 1 + random.nextInt(40);
    long watermark = Context.NO_WATERMARK;
    long offset = 0;
    Set<Pane> panes = new HashSet<>();
    List<Late> late = new ArrayList<>();
    List<Event> used = new ArrayList<>();
    List<Late> expectedLate = new ArrayList<>();
    for (int step = 0; step < 30; step++) {
      Long tick = random.nextInt(3) == 0 ? null : Long.valueOf(-500 + step * 40 + random.nextInt(40));
      watermark = tick == null ? watermark : Math.max(watermark, tick);
      List<Event> full = new ArrayList<>();
      List<Event> combined = new ArrayList<>();
      for (int i = random.nextInt(cards * 3); i > 0; i--) {
        Event event = new Event("c" + random.nextInt(cards), random.nextInt(1000), -600 + step * 40 + random.nextInt(300), 0, offset++);
        long end = end(ran, event.time());
        if (end <= watermark) {
          full.add(event);
          expectedLate.add(new Late(event.card(), event.amount(), (watermark - end) / 1e6));
        } else {
          (random.nextInt(10) == 0 ? full : combined).add(event);
          used.add(event);
        }
      }
      Collections.shuffle(full, random);
      List<Output> outputs = epoch(ran, full, combined, tick);
      for (Pane pane : panes(outputs)) {
        assertTrue(panes.add(pane), "one pane per key and window");
      }
      late.addAll(late(outputs));
    }
    panes.addAll(panes(epoch(ran, List.of(), List.of(), Context.END)));
    assertEquals(brute(ran, used), panes);
    Comparator<Late> order = Comparator.comparing(Late::toString);
    assertEquals(expectedLate.stream().sorted(order).toList(), late.stream().sorted(order).toList());
    assertEquals(0, cells.size());
  }

  private static long start(Program program, long time) {
    return ((Windows) program.window()).start(((Windows) program.window()).slice(time) + 1);
  }

  private static long end(Program program, long time) {
    return ((Windows) program.window()).end(((Windows) program.window()).slice(time) + 1);
  }

  private static Set<Pane> brute(Program program, List<Event> events) {
    Map<String, List<Event>> groups = new TreeMap<>();
    events.forEach(event -> groups.computeIfAbsent(event.card() + "@" + start(program, event.time()), key -> new ArrayList<>()).add(event));
    Set<Pane> panes = new HashSet<>();
    for (List<Event> group : groups.values()) {
      group.sort(Comparator.comparingLong(Event::time).thenComparingLong(Event::offset));
      Event first = group.get(0);
      panes.add(new Pane(first.card(), start(program, first.time()), end(program, first.time()),
          group.stream().mapToLong(Event::amount).sum(), group.size(), first.amount(), group.get(group.size() - 1).amount()));
    }
    return panes;
  }

  /** The shuffle may bring the same inputs in any order: outputs and cells are the same to the byte. */
  @Test
  void replaysInAnotherOrderAreEqualToTheByte() {
    List<Event> events = new ArrayList<>();
    Random random = new Random(42);
    for (int i = 0; i < 500; i++) {
      events.add(new Event("c" + random.nextInt(50), random.nextInt(100), random.nextInt(180), random.nextInt(3), i));
    }
    List<String> seen = new ArrayList<>();
    for (int run = 0; run < 3; run++) {
      Collections.shuffle(events, random);
      MemoryCells fresh = new MemoryCells();
      Epoch epoch = new Epoch(0, fresh, 120, Context.NO_WATERMARK);
      events.forEach(event -> epoch.add(0, 0, event.partition(), event.offset(), event.time(), Events.exit(event)));
      epoch.tick(120, 0);
      StringBuilder text = new StringBuilder();
      epoch.run(new SinglePane(program)).forEachRemaining(output -> text.append(output.port()).append(output.offset()).append(Arrays.toString(output.payload())));
      fresh.scan().forEachRemaining(cell -> text.append(Arrays.toString(cell.getValue())));
      seen.add(text.toString());
    }
    assertFalse(seen.get(0).isEmpty());
    assertEquals(seen.get(0), seen.get(1));
    assertEquals(seen.get(0), seen.get(2));
  }
}
