package headrace.window;

/** Slices of one length, aligned to 1970 plus an offset. */
public record FixedGrid(long size, long offset) implements Grid {
  public FixedGrid {
    if (size <= 0 || size > Long.MAX_VALUE / 2) {
      throw new IllegalArgumentException("a window of " + size + " microseconds is none");
    }
    offset = Math.floorMod(offset, size);
  }

  @Override
  public long index(long time) {
    // The offset is taken off the remainder: off the time itself it could overflow.
    return Math.floorDiv(time, size) - (Math.floorMod(time, size) < offset ? 1 : 0);
  }

  @Override
  public long boundary(long index) {
    long high = Math.multiplyHigh(index, size);
    long low = index * size;
    if (high != low >> 63) {
      // Just below the least time, the offset may bring it back.
      long near = index < 0 && high == -1 ? low + offset : 0;
      return index < 0 ? (near < 0 ? near : Long.MIN_VALUE) : Long.MAX_VALUE;
    }
    return low > Long.MAX_VALUE - offset ? Long.MAX_VALUE : low + offset;
  }
}
