package headrace.clock;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Whether news may enter a query, decided once per round.
 *
 * <p>A round is Spark asking each source once where it stands; what they answer becomes an epoch, or nothing if no
 * source has news. It begins when a source is asked that was asked in this round already. A gate that moved within a
 * round would let a part of the news in.
 */
final class Gate {
  private final Set<Object> asked = Collections.newSetFromMap(new IdentityHashMap<>());
  private long rounds;
  private boolean frozen;
  private boolean held;
  private boolean released;
  private boolean passing;
  private boolean shut;

  /** From the next round on nothing enters. */
  synchronized void freeze() {
    frozen = true;
  }

  /** Nothing enters but in rounds that are released. */
  synchronized void hold() {
    held = true;
  }

  synchronized void release() {
    released = true;
  }

  synchronized boolean shut(Object source) {
    if (rounds == 0 || !asked.add(source)) {
      asked.clear();
      asked.add(source);
      begin();
    }
    return shut;
  }

  private void begin() {
    rounds++;
    // The first round is none to release: Spark makes an epoch of it whether or not there is news.
    passing = released && rounds > 1;
    released &= !passing;
    shut = frozen || held && !passing;
    notifyAll();
  }

  /** The round after the released one has begun, so its epoch is committed. */
  synchronized boolean settled(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + millis * 1_000_000L;
    while (released || passing) {
      long left = (deadline - System.nanoTime()) / 1_000_000L;
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return true;
  }
}
