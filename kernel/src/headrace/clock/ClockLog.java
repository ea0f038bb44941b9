package headrace.clock;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/**
 * What a clock finds in a checkpoint when it starts, and what it leaves there.
 *
 * <p>W itself is in Spark's offset log, written before the epoch runs. What the next W follows from, the
 * maxima and what policies have learned, is in files of ours, one per epoch that changed it, written before
 * Spark commits the epoch: a process that dies right after the commit comes back knowing it, with no new data
 * needed.
 */
final class ClockLog {
  /** Of the files of our own; a file without a number is of the first one, which had nothing but maxima. */
  private static final int FORMAT = 2;

  private final Path offsets;
  private final Path commits;
  private final Path own;
  private final CheckpointFileManager files;
  private final int kept;
  private NavigableSet<Long> written = new TreeSet<>();

  /** A log that keeps files of so many epochs: as many as Spark keeps of its own. */
  ClockLog(String checkpoint, Configuration hadoop, int kept) {
    // The epoch that runs is not committed: the one before it is what a restart begins with.
    this.kept = Math.max(2, kept);
    Path root = new Path(checkpoint);
    offsets = new Path(root, "offsets");
    commits = new Path(root, "commits");
    own = new Path(new Path(root, "headrace"), "clock");
    files = CheckpointFileManager.create(root, hadoop);
  }

  /** The clock's offset in the newest entry of Spark's offset log, or null when there is none. */
  ClockOffset lastLogged() {
    NavigableSet<Long> logged = epochs(offsets);
    if (logged.isEmpty()) {
      return null;
    }
    String[] lines = read(new Path(offsets, logged.last().toString())).split("\n");
    // After the version and the metadata: one line per source, with its name in front when sources are named.
    for (int i = 2; i < lines.length; i++) {
      int brace = lines[i].indexOf('{');
      if (brace >= 0) {
        JsonNode offset = parse(lines[i].substring(brace));
        if (ClockOffset.isOne(offset)) {
          return ClockOffset.of(offset);
        }
      }
    }
    return null;
  }

  /** What an epoch left behind: the maxima by source and partition, and by source what its policy learned. */
  record Left(Map<String, Map<Integer, Long>> maxima, Map<String, JsonNode> learned) {}

  /** What the last epoch that Spark committed left behind. */
  Left lastCommitted() {
    NavigableSet<Long> committed = epochs(commits);
    written = epochs(own);
    Long newest = committed.isEmpty() ? null : written.floor(committed.last());
    Map<String, Map<Integer, Long>> maxima = new TreeMap<>();
    Map<String, JsonNode> learned = new TreeMap<>();
    if (newest != null) {
      Path file = new Path(own, newest.toString() + ".json");
      JsonNode state = parse(read(file));
      if (state.path("format").asInt() > FORMAT) {
        throw new IllegalStateException(
            "The clock's state " + file + " has format " + state.path("format") + " of a newer headrace; this one reads up to "
                + FORMAT + ".");
      }
      state.path("maxima").properties().forEach(source -> {
        Map<Integer, Long> partitions = maxima.computeIfAbsent(source.getKey(), s -> new TreeMap<>());
        source.getValue().properties()
            .forEach(one -> partitions.put(Integer.valueOf(one.getKey()), one.getValue().asLong()));
      });
      state.path("learned").properties().forEach(source -> learned.put(source.getKey(), source.getValue()));
    }
    return new Left(maxima, learned);
  }

  void write(long epoch, Left left) {
    ObjectNode state = ClockSpec.JSON.createObjectNode().put("format", FORMAT);
    ObjectNode sources = state.putObject("maxima");
    left.maxima().forEach((source, partitions) -> {
      ObjectNode times = sources.putObject(source);
      partitions.forEach((partition, time) -> times.put(partition.toString(), time));
    });
    if (!left.learned().isEmpty()) {
      state.putObject("learned").setAll(left.learned());
    }
    try {
      if (written.isEmpty()) {
        files.mkdirs(own);
      }
      var out = files.createAtomic(new Path(own, epoch + ".json"), true);
      try {
        out.write(state.toString().getBytes(StandardCharsets.UTF_8));
        out.close();
      } catch (IOException | RuntimeException failure) {
        out.cancel();
        throw failure;
      }
      written.add(epoch);
      while (written.size() > kept) {
        files.delete(new Path(own, written.pollFirst() + ".json"));
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("The clock's state of epoch " + epoch + " cannot be written to " + own, failure);
    }
  }

  private NavigableSet<Long> epochs(Path folder) {
    NavigableSet<Long> epochs = new TreeSet<>();
    if (files.exists(folder)) {
      for (FileStatus file : files.list(folder)) {
        // Temporary files and checksums begin with a dot.
        String name = file.getPath().getName().replaceFirst("\\.json$", "");
        if (!name.isEmpty() && name.chars().allMatch(Character::isDigit)) {
          epochs.add(Long.valueOf(name));
        }
      }
    }
    return epochs;
  }

  private String read(Path file) {
    try (FSDataInputStream in = files.open(file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException("The checkpoint file " + file + " cannot be read", failure);
    }
  }

  private static JsonNode parse(String json) {
    try {
      return ClockSpec.JSON.readTree(json);
    } catch (JsonProcessingException broken) {
      throw new IllegalStateException("This text in the checkpoint is not JSON: " + json, broken);
    }
  }
}
