package headrace.clock.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** A policy that learns from how late rows are, and keeps what it learned in the checkpoint. */
public interface Learning extends Policy {
  /** What the tasks of an epoch saw, each part once and in the order of their positions. */
  void learn(List<Lateness> seen);

  /** What was learned, for the checkpoint. */
  ObjectNode state();

  /** Goes on from {@link #state}; from nothing when it is null or of another kind of policy. */
  void restore(JsonNode state);

  /** For people: what it has come to. */
  void describe(ObjectNode status);
}
