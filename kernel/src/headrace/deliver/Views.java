package headrace.deliver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.view.Change;
import headrace.view.ViewSpec;
import headrace.view.ViewStore;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The stores of views that this driver writes to: opened once, closed when their pipeline ends. */
public final class Views {
  private static final Map<String, ViewStore> OPEN = new ConcurrentHashMap<>();

  private Views() {}

  /** Commits what the tasks changed; an epoch that changed nothing costs nothing. */
  static void apply(DeliverySpec spec, List<Summary> tasks) {
    List<Change> changes = tasks.stream().sorted(java.util.Comparator.comparingInt(Summary::task)).flatMap(task -> task.changes().stream()).toList();
    if (!changes.isEmpty()) {
      store(spec.views()).apply(spec.epoch(), changes);
    }
  }

  /** Tells whose views there are: {@code {"checkpoint": id or null, "epoch": n}}. */
  public static String look(String spec) {
    Marker marker = store(views(spec)).marker();
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("checkpoint", marker == null ? null : marker.checkpoint());
    json.put("epoch", marker == null ? Marker.BEFORE_ALL : marker.epoch());
    return json.toString();
  }

  /** Gives the views to the spec's history, and makes what is missing. */
  public static void adopt(String spec) {
    store(views(spec)).adopt();
  }

  /** Empties the views. */
  public static void clear(String spec) {
    store(views(spec)).clear();
  }

  /** Lets go of a pipeline's store. */
  public static void close(String pipeline) {
    ViewStore store = OPEN.remove(pipeline);
    if (store != null) {
      store.close();
    }
  }

  private static ViewStore store(ViewSpec spec) {
    return OPEN.compute(spec.pipeline(), (pipeline, open) -> {
      if (open != null && open.spec().equals(spec)) {
        return open;
      }
      if (open != null) {
        open.close();
      }
      return new ViewStore(spec);
    });
  }

  private static ViewSpec views(String spec) {
    try {
      return ViewSpec.parse(new ObjectMapper().readTree(spec));
    } catch (JsonProcessingException broken) {
      throw new IllegalArgumentException("the delivery is no JSON, at " + broken.getLocation());
    }
  }
}
