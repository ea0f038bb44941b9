package headrace.window;

/**
 * Tumbling, hopping and cumulative windows over a grid of slices.
 *
 * <p>A window is named by the number of the boundary at its end. Tumbling and hopping windows begin every {@code hop} slices and are
 * {@code span} slices long; cumulative ones all begin with the span that they lie in and end at every boundary of it.
 */
public record AlignedWindows(Grid grid, int span, int hop, boolean cumulative) implements Windows {
  public AlignedWindows {
    if (span < 1 || hop < 1 || hop > span) {
      throw new IllegalArgumentException("windows of " + span + " slices every " + hop + " slices leave time out");
    }
  }

  public static AlignedWindows tumbling(long size, long offset) {
    return new AlignedWindows(new FixedGrid(size, offset), 1, 1, false);
  }

  @Override
  public long slice(long time) {
    return grid.index(time);
  }

  @Override
  public long first(long slice) {
    return cumulative ? slice + 1 : -Math.floorDiv(span - 1 - slice, hop) * hop + span;
  }

  @Override
  public long last(long slice) {
    return cumulative ? from(slice + 1) + span : Math.floorDiv(slice, hop) * hop + span;
  }

  @Override
  public long next(long window) {
    return cumulative ? window + 1 : window + hop;
  }

  @Override
  public long start(long window) {
    return grid.boundary(from(window));
  }

  @Override
  public long end(long window) {
    return grid.boundary(window);
  }

  @Override
  public long from(long window) {
    return cumulative ? Math.floorDiv(window - 1, span) * span : window - span;
  }

  @Override
  public long until(long window) {
    return window;
  }

  @Override
  public boolean overlap() {
    return span > 1;
  }
}
