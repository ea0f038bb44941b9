package headrace.step;

import headrace.aggregate.Layout;
import headrace.aggregate.Partials;
import headrace.aggregate.Slots;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Cells;
import headrace.state.Header;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The accumulators of open windows in pages: many keys to a cell, as many pages to a window as keep a page small (linear hashing).
 *
 * <p>A cell costs Spark and RocksDB some microseconds whatever is in it, and a window fires by reading pages 0..n without a scan.
 * The number of pages is in the header; it only grows, and a page is split when it is touched anyway or its bucket is due.
 */
final class Pages {
  static final int TARGET = 2048;
  private static final int STATE = 1;
  private static final int SAMPLE = 64;

  private final Layout layout;
  private final Slots scratch;
  private final ArrayDeque<ByteWriter> spare = new ArrayDeque<>();
  private int[] opened = new int[16];
  private int open;

  Pages(Layout layout) {
    this.layout = layout;
    this.scratch = layout.scratch();
  }

  /** Merges a window's new partials into its pages. */
  void merge(Cells cells, long start, Header.Window window, Partials batch) {
    int before = Math.max(1, window.pages);
    int after = wanted(window, batch);
    int[] first = new int[before + 1];
    int[] order = byPage(batch, before, first);
    boolean[] splits = new boolean[before];
    for (int page = before; page < after; page++) {
      splits[address(page, before)] = true;
    }
    BitSet merged = new BitSet(batch.size());
    ByteWriter[] writers = new ByteWriter[after];
    for (int page = 0; page < before; page++) {
      if (first[page] == first[page + 1] && !splits[page]) {
        continue;
      }
      byte[] content = window.pages == 0 ? null : cells.get(cell(start, page));
      if (content != null) {
        window.bytes -= content.length;
        rewrite(content, start, batch, merged, writers);
      }
      for (int i = first[page]; i < first[page + 1]; i++) {
        if (!merged.get(order[i])) {
          window.keys++;
          batch.write(order[i], writer(writers, batch.hash(order[i])));
        }
      }
      put(cells, start, window, writers, page, content != null);
    }
    window.pages = after;
  }

  /** The window's pages one after another, each removed as it is handed out. */
  Iterator<byte[]> take(Cells cells, long start, Header.Window window) {
    return new Iterator<>() {
      private int page;
      private byte[] next;

      @Override
      public boolean hasNext() {
        while (next == null && page < window.pages) {
          byte[] cell = cell(start, page++);
          next = cells.get(cell);
          if (next != null) {
            cells.remove(cell);
          }
        }
        return next != null;
      }

      @Override
      public byte[] next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        byte[] content = next;
        next = null;
        return content;
      }
    };
  }

  /** As many pages as the content fills, by what is known: the bytes before this merge and those of the new entries. */
  private int wanted(Header.Window window, Partials batch) {
    int sample = Math.min(SAMPLE, batch.size());
    ByteWriter out = borrow();
    for (int entry = 0; entry < sample; entry++) {
      batch.write(entry, out);
    }
    long fresh = (long) out.size() * batch.size() / Math.max(1, sample);
    spare.push(out);
    long content = Math.max(fresh, window.bytes);
    boolean full = content > (long) window.pages * (TARGET + TARGET / 2);
    return full ? (int) Math.min(1 << 28, Math.max(window.pages, content / TARGET + 1)) : Math.max(1, window.pages);
  }

  /** The batch's entries by the page that they fall on; page p has order[first[p]] .. order[first[p + 1] - 1]. */
  private static int[] byPage(Partials batch, int pages, int[] first) {
    int size = batch.size();
    int[] page = new int[size];
    for (int entry = 0; entry < size; entry++) {
      page[entry] = address(mix(batch.hash(entry)), pages);
      first[page[entry] + 1]++;
    }
    for (int i = 0; i < pages; i++) {
      first[i + 1] += first[i];
    }
    int[] next = Arrays.copyOf(first, pages);
    int[] order = new int[size];
    for (int entry = 0; entry < size; entry++) {
      order[next[page[entry]]++] = entry;
    }
    return order;
  }

  private void rewrite(byte[] content, long start, Partials batch, BitSet merged, ByteWriter[] writers) {
    ByteReader in = Partials.open(content);
    while (in.hasRemaining()) {
      int begin = in.position();
      int length = in.readLength();
      long address = in.address();
      in.skip(length);
      int hash = Partials.hash(content, address, length);
      ByteWriter out = writer(writers, hash);
      int accumulators = in.readLength();
      int entry = batch.find(start, hash, content, address, length);
      if (entry < 0) {
        in.skip(accumulators);
        out.writeRaw(content, begin, in.position() - begin);
      } else {
        layout.clear(scratch);
        layout.read(scratch, in);
        layout.merge(scratch, batch.slots(entry));
        out.writeUnsigned(length);
        out.writeRaw(content, address, length);
        int from = out.beginLength();
        layout.write(scratch, out);
        out.endLength(from);
        merged.set(entry);
      }
    }
  }

  /** Stores the pages that were written to; an old one that nothing was written to has given all its keys away. */
  private void put(Cells cells, long start, Header.Window window, ByteWriter[] writers, int old, boolean existed) {
    if (existed && writers[old] == null) {
      cells.remove(cell(start, old));
    }
    for (int i = 0; i < open; i++) {
      int page = opened[i];
      byte[] content = writers[page].toBytes();
      window.bytes += content.length;
      cells.put(cell(start, page), content);
      spare.push(writers[page]);
      writers[page] = null;
    }
    open = 0;
  }

  private ByteWriter writer(ByteWriter[] writers, int hash) {
    int page = address(mix(hash), writers.length);
    if (writers[page] == null) {
      writers[page] = borrow();
      writers[page].writeByte(Partials.VERSION);
      if (open == opened.length) {
        opened = Arrays.copyOf(opened, 2 * open);
      }
      opened[open++] = page;
    }
    return writers[page];
  }

  private ByteWriter borrow() {
    ByteWriter writer = spare.isEmpty() ? new ByteWriter(2 * TARGET) : spare.pop();
    writer.clear();
    return writer;
  }

  /** Group and page come from one hash; multiplied and reversed, its bits that chose the group do not choose the page again. */
  static int mix(int hash) {
    return Integer.reverse(hash * 0x9E3779B9);
  }

  static int address(int mixed, int pages) {
    int half = Integer.highestOneBit(pages);
    int page = mixed & 2 * half - 1;
    return page < pages ? page : page & half - 1;
  }

  private static byte[] cell(long start, int page) {
    byte[] key = new byte[13];
    key[0] = STATE;
    for (int i = 0; i < 8; i++) {
      key[1 + i] = (byte) (start >>> 56 - 8 * i);
    }
    for (int i = 0; i < 4; i++) {
      key[9 + i] = (byte) (page >>> 24 - 8 * i);
    }
    return key;
  }
}
