package headrace.step;

import headrace.aggregate.Partials;
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
 * What is kept per key of a window or slice, in pages: many keys to a cell, as many pages to a part as keep a page small (linear hashing).
 *
 * <p>A cell costs Spark and RocksDB some microseconds whatever is in it, and a window fires by reading pages 0..n without a scan.
 * The number of pages is in the header; it only grows, and a page is split when it is touched anyway or its bucket is due.
 */
final class Pages {
  /** What a key has in a page: how new rows enter it. Both tell the watermark from which on the key wants to be looked at. */
  interface Body {
    long NEVER = Long.MAX_VALUE;

    /** Writes the body of a key that had none; nothing where it still has none. */
    long begin(Partials batch, int entry, ByteWriter out);

    /** Writes the body of a key that has one, nothing where it loses it; the reader stands at its beginning, and is left at its end. */
    long merge(ByteReader stored, Partials batch, int entry, ByteWriter out);

    /** About how many bytes an entry takes where all are new. */
    long size(Partials batch, int entry);
  }


  static final int TARGET = 2048;
  /** The size of a page without keys. */
  private static final int EMPTY = 1;
  private static final int STATE = 1;
  private static final int SAMPLE = 64;

  private final Body body;
  private final ArrayDeque<ByteWriter> spare = new ArrayDeque<>();
  private int[] opened = new int[16];
  private int open;

  Pages(Body body) {
    this.body = body;
  }

  /** Merges new partials into a part's pages, and marks the pages dirty that they fell on. */
  void merge(Cells cells, long number, Header.Part part, Partials batch) {
    int before = Math.max(1, part.pages);
    int after = wanted(part, batch);
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
      byte[] content = part.pages == 0 ? null : cells.get(cell(number, page));
      if (content != null) {
        part.bytes -= content.length;
        rewrite(content, part, batch, merged, writers);
      }
      for (int i = first[page]; i < first[page + 1]; i++) {
        if (!merged.get(order[i])) {
          int hash = batch.hash(order[i]);
          add(part, address(mix(hash), after), batch, order[i], writer(writers, hash));
        }
      }
      put(cells, number, part, writers, page, content);
    }
    part.pages = after;
    for (int page = before; page < after; page++) {
      int parent = address(page, before);
      part.dirty.set(page, part.dirty.get(parent));
      due(part, page, part.due(parent));
    }
    for (int entry = 0; entry < batch.size(); entry++) {
      part.dirty.set(address(mix(batch.hash(entry)), after));
    }
  }

  private void add(Header.Part part, int page, Partials batch, int entry, ByteWriter out) {
    int before = out.size();
    batch.writeKey(entry, out);
    int from = out.beginLength();
    long due = body.begin(batch, entry, out);
    if (out.size() == from) {
      out.cut(before);
      return;
    }
    out.endLength(from);
    part.keys++;
    due(part, page, due);
  }

  private static void due(Header.Part part, int page, long watermark) {
    part.due(page, Math.min(part.due(page), watermark));
  }

  /** One page, or null. */
  byte[] get(Cells cells, long number, int page) {
    return cells.get(cell(number, page));
  }

  /** Puts back a page whose keys are the same as before; its part's bytes are told. */
  void put(Cells cells, long number, int page, Header.Part part, byte[] before, byte[] after) {
    part.bytes += after.length - before.length;
    cells.put(cell(number, page), after);
  }

  /** Takes away a page that has no keys left. */
  void remove(Cells cells, long number, int page, Header.Part part, byte[] before) {
    part.bytes -= before.length;
    cells.remove(cell(number, page));
  }

  /** Removes all pages without a look at them. */
  void drop(Cells cells, long number, Header.Part part) {
    for (int page = 0; page < part.pages; page++) {
      cells.remove(cell(number, page));
    }
  }

  /** The part's pages one after another, each removed as it is handed out. */
  Iterator<byte[]> take(Cells cells, long number, Header.Part part) {
    return new Iterator<>() {
      private int page;
      private byte[] next;

      @Override
      public boolean hasNext() {
        while (next == null && page < part.pages) {
          byte[] cell = cell(number, page++);
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
  private int wanted(Header.Part part, Partials batch) {
    int sample = Math.min(SAMPLE, batch.size());
    long bytes = 0;
    for (int entry = 0; entry < sample; entry++) {
      bytes += body.size(batch, entry);
    }
    long fresh = bytes * batch.size() / Math.max(1, sample);
    long content = Math.max(fresh, part.bytes);
    boolean full = content > (long) part.pages * (TARGET + TARGET / 2);
    return full ? (int) Math.min(1 << 28, Math.max(part.pages, content / TARGET + 1)) : Math.max(1, part.pages);
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

  private void rewrite(byte[] content, Header.Part part, Partials batch, BitSet merged, ByteWriter[] writers) {
    ByteReader in = Partials.open(content);
    while (in.hasRemaining()) {
      int begin = in.position();
      int length = in.readLength();
      long address = in.address();
      in.skip(length);
      int hash = Partials.hash(content, address, length);
      ByteWriter out = writer(writers, hash);
      int stored = in.readLength();
      int entry = batch.find(hash, content, address, length);
      if (entry < 0) {
        in.skip(stored);
        out.writeRaw(content, begin, in.position() - begin);
      } else {
        int before = out.size();
        out.writeUnsigned(length);
        out.writeRaw(content, address, length);
        int from = out.beginLength();
        long due = body.merge(in, batch, entry, out);
        if (out.size() == from) {
          out.cut(before);
          part.keys--;
        } else {
          out.endLength(from);
          due(part, address(mix(hash), writers.length), due);
        }
        merged.set(entry);
      }
    }
  }

  /** Stores the pages that were written to, as far as they changed; an old one that nothing was written to has given all its keys away. */
  private void put(Cells cells, long number, Header.Part part, ByteWriter[] writers, int old, byte[] before) {
    if (before != null && (writers[old] == null || writers[old].size() == EMPTY)) {
      cells.remove(cell(number, old));
    }
    for (int i = 0; i < open; i++) {
      int page = opened[i];
      if (writers[page].size() > EMPTY) {
        byte[] content = writers[page].toBytes();
        part.bytes += content.length;
        if (page != old || !Arrays.equals(content, before)) {
          cells.put(cell(number, page), content);
        }
      }
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

  private static byte[] cell(long number, int page) {
    byte[] key = new byte[13];
    key[0] = STATE;
    for (int i = 0; i < 8; i++) {
      key[1 + i] = (byte) (number >>> 56 - 8 * i);
    }
    for (int i = 0; i < 4; i++) {
      key[9 + i] = (byte) (page >>> 24 - 8 * i);
    }
    return key;
  }
}
