package headrace.remote;

import java.util.Collection;
import java.util.Map;

/** Who knows the rows of a remote table. */
public interface Asked {
  /** The rows of some keys, all different; a key that is missing in the answer has no row. */
  Map<Object, Answer> ask(Collection<Object> keys);
}
