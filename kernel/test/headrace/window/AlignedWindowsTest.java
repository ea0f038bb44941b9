package headrace.window;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AlignedWindowsTest {
  private static List<String> windows(Windows windows, long time) {
    List<String> found = new ArrayList<>();
    long slice = windows.slice(time);
    for (long window = windows.first(slice); window <= windows.last(slice); window = windows.next(window)) {
      assertEquals(true, windows.from(window) <= slice && slice < windows.until(window), "the slice is in the window");
      found.add(windows.start(window) + "-" + windows.end(window));
    }
    return found;
  }

  @Test
  void hoppingWindowsAreAllThatHoldTheTime() {
    for (int size = 1; size < 12; size++) {
      for (int hop = 1; hop <= size; hop++) {
        int slice = java.math.BigInteger.valueOf(size).gcd(java.math.BigInteger.valueOf(hop)).intValue();
        Windows windows = new AlignedWindows(new FixedGrid(slice, 0), size / slice, hop / slice, false);
        for (long time = -30; time < 30; time++) {
          List<String> expected = new ArrayList<>();
          for (long start = -60; start <= time; start++) {
            if (Math.floorMod(start, hop) == 0 && time < start + size) {
              expected.add(start + "-" + (start + size));
            }
          }
          assertEquals(expected, windows(windows, time), size + " every " + hop + " at " + time);
        }
      }
    }
  }

  @Test
  void cumulativeWindowsBeginTogether() {
    Windows windows = new AlignedWindows(new FixedGrid(10, 0), 3, 1, true);
    assertEquals(List.of("0-10", "0-20", "0-30"), windows(windows, 3));
    assertEquals(List.of("0-20", "0-30"), windows(windows, 10));
    assertEquals(List.of("0-30"), windows(windows, 29));
    assertEquals(List.of("-30--10", "-30-0"), windows(windows, -15));
  }
}
