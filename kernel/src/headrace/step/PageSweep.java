package headrace.step;

import headrace.aggregate.Partials;
import headrace.state.ByteReader;
import headrace.state.ByteWriter;
import headrace.state.Cells;
import headrace.state.Header;
import java.util.Arrays;

/** A look at every key of a page, in which something is due: what a key has changes, or the key goes. */
final class PageSweep {
  /** What becomes of a key. */
  interface Look {
    /**
     * Writes what the key has from now on; nothing when it can be forgotten.
     *
     * @param content where the key's bytes are, from {@code address} on
     * @param body at the beginning of what it has had; to be left at its end
     * @return the watermark from which on the key wants to be looked at again
     */
    long look(byte[] content, long address, int length, ByteReader body, ByteWriter out);
  }

  private final Pages pages;
  private final ByteWriter page = new ByteWriter(4096);

  PageSweep(Pages pages) {
    this.pages = pages;
  }

  /** Looks at a page, and tells its part when to do so again; tells whether there are keys left in it. */
  boolean sweep(Cells cells, long number, int at, Header.Part part, Look look) {
    byte[] content = pages.get(cells, number, at);
    part.due(at, Pages.Body.NEVER);
    if (content == null) {
      return false;
    }
    page.clear();
    page.writeByte(Partials.VERSION);
    int empty = page.size();
    long due = Pages.Body.NEVER;
    ByteReader in = Partials.open(content);
    while (in.hasRemaining()) {
      int from = in.position();
      int length = in.readLength();
      long address = in.address();
      in.skip(length);
      int before = page.size();
      page.writeRaw(content, from, in.position() - from);
      in.readLength();
      int body = page.beginLength();
      due = Math.min(due, look.look(content, address, length, in, page));
      if (page.size() == body) {
        page.cut(before);
        part.keys--;
      } else {
        page.endLength(body);
      }
    }
    part.due(at, due);
    if (page.size() == empty) {
      pages.remove(cells, number, at, part, content);
      return false;
    }
    byte[] written = page.toBytes();
    if (!Arrays.equals(written, content)) {
      pages.put(cells, number, at, part, content, written);
    }
    return true;
  }
}
