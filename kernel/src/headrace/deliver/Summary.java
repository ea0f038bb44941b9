package headrace.deliver;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headrace.step.Ledger;
import headrace.view.Change;
import java.io.Serializable;
import java.util.List;
import java.util.TreeMap;

/** What one task delivered, and the changes of views that the driver is to commit. It is a result and not an accumulator, so a task that was tried twice counts once. */
public record Summary(int task, long attempt, boolean skipped, long[] counts, TreeMap<Integer, Ledger> ledger, List<Change> changes,
    long millis, long bytes)
    implements Serializable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** All tasks' summaries as one: rows by outlet, the ledger and the hot keys by program, tasks that skipped, bytes, and the slowest task's time. */
  public static ObjectNode total(List<Summary> tasks, List<Outlet> outlets) {
    ObjectNode json = JSON.createObjectNode();
    ObjectNode delivered = json.putObject("delivered");
    for (Outlet outlet : outlets) {
      delivered.put(outlet.name(), tasks.stream().mapToLong(task -> task.counts[outlet.ordinal()]).sum());
    }
    TreeMap<Integer, Ledger> ledger = new TreeMap<>();
    tasks.forEach(task -> task.ledger.forEach((program, lines) -> ledger.computeIfAbsent(program, absent -> new Ledger()).add(lines)));
    ObjectNode accounts = json.putObject("ledger");
    ObjectNode hot = json.putObject("hot");
    ledger.forEach((program, account) -> {
      account.put(accounts.putObject(program.toString()));
      ArrayNode keys = hot.putArray(program.toString());
      account.hot().forEach(key -> keys.addObject().put("key", key.key()).put("share", key.share()));
    });
    json.put("tasks", tasks.size());
    json.put("skipped", tasks.stream().filter(Summary::skipped).count());
    json.put("bytes", tasks.stream().mapToLong(Summary::bytes).sum());
    json.put("millis", tasks.stream().mapToLong(Summary::millis).max().orElse(0));
    return json;
  }
}
