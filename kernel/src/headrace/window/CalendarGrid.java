package headrace.window;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/**
 * Slices of local days, weeks from Monday, or months: as long as the calendar says, with a day of 23 or 25 hours where clocks change.
 *
 * <p>They are counted from 1970-01-01, weeks, and days that make up weeks, from the Monday before it. An offset moves the boundary from
 * midnight to a later local time.
 */
public final class CalendarGrid implements Grid {
  /** The unit that slices are counted in. */
  public enum Unit { DAY, WEEK, MONTH }

  private static final long MONDAY = -3;
  private static final long FARTHEST = 4_000_000L * 365;

  private record Slice(long index, long start, long end) {}

  private final Unit unit;
  private final int count;
  private final ZoneId zone;
  private final long offsetMicros;
  private final long firstDay;
  // Neighbouring events are of one day: a stale one, written by another thread, is only looked up again.
  private volatile Slice latest = new Slice(0, 0, 0);

  /** {@code weekly}: days are those of weeks. */
  public CalendarGrid(Unit unit, int count, ZoneId zone, long offsetMicros, boolean weekly) {
    if (count < 1) {
      throw new IllegalArgumentException("slices of " + count + " " + unit + " are none");
    }
    this.unit = unit;
    this.count = count;
    this.zone = zone;
    this.offsetMicros = offsetMicros;
    firstDay = unit == Unit.WEEK || weekly ? MONDAY : 0;
  }

  @Override
  public long index(long time) {
    Slice known = latest;
    if (time >= known.start && time < known.end) {
      return known.index;
    }
    long index = guess(time);
    // Where clocks change, the local time of an instant may lie on the other side of a boundary.
    while (boundary(index) > time) {
      index--;
    }
    while (boundary(index + 1) <= time && boundary(index + 1) < Long.MAX_VALUE) {
      index++;
    }
    latest = new Slice(index, boundary(index), boundary(index + 1));
    return index;
  }

  private long guess(long time) {
    long days = Math.floorDiv(time, 86_400_000_000L);
    if (Math.abs(days) > FARTHEST / 16) {
      // Beyond every calendar: there a month is its mean, and nobody's clock changes.
      return Math.floorDiv(unit == Unit.MONTH ? (long) (days / 30.436875) : unit == Unit.WEEK ? Math.floorDiv(days - firstDay, 7L) : days - firstDay, count);
    }
    LocalDate date = LocalDateTime.ofInstant(Instant.EPOCH.plus(time, ChronoUnit.MICROS), zone)
        .minus(offsetMicros, ChronoUnit.MICROS).toLocalDate();
    long units = switch (unit) {
      case DAY -> date.toEpochDay() - firstDay;
      case WEEK -> Math.floorDiv(date.toEpochDay() - firstDay, 7L);
      case MONTH -> (date.getYear() - 1970) * 12L + date.getMonthValue() - 1;
    };
    return Math.floorDiv(units, count);
  }

  @Override
  public long boundary(long index) {
    long units = index * count;
    long days = switch (unit) {
      case DAY -> firstDay + units;
      case WEEK -> firstDay + 7 * units;
      case MONTH -> Math.abs(units) > 12L * 200_000 ? (long) (units * 30.436875) : LocalDate.of(1970, 1, 1).plusMonths(units).toEpochDay();
    };
    if (Math.abs(days) > FARTHEST / 16) {
      long micros = days * 86_400_000_000L;
      boolean fits = Math.multiplyHigh(days, 86_400_000_000L) == micros >> 63;
      return fits ? micros : days < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    Instant at = LocalDateTime.of(LocalDate.ofEpochDay(days), LocalTime.MIDNIGHT).plus(offsetMicros, ChronoUnit.MICROS)
        .atZone(zone).toInstant();
    return Math.addExact(Math.multiplyExact(at.getEpochSecond(), 1_000_000L), at.getNano() / 1000);
  }
}
