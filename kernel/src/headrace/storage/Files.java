package headrace.storage;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/** Small text files in one folder of any Hadoop file system, written whole. */
public final class Files {
  private final Path root;
  private final Configuration configuration;

  public Files(String uri, SparkSession session) {
    this.root = new Path(uri);
    this.configuration =
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState().newHadoopConf();
  }

  /** The text of a file, or null when there is none. */
  public String read(String name) throws IOException {
    Path path = new Path(root, name);
    try (FSDataInputStream in = path.getFileSystem(configuration).open(path)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (FileNotFoundException missing) {
      return null;
    }
  }

  /** Writes a file so that a reader sees the old text or the new one, never a part. */
  public void write(String name, String text) throws IOException {
    Path path = new Path(root, name);
    CheckpointFileManager files = CheckpointFileManager.create(path.getParent(), configuration);
    files.mkdirs(path.getParent());
    CheckpointFileManager.CancellableFSDataOutputStream out = files.createAtomic(path, true);
    try {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.close();
    } catch (IOException | RuntimeException failure) {
      out.cancel();
      throw failure;
    }
  }

  /** The names inside a sub-folder, sorted; none when it does not exist. */
  public List<String> names(String name) throws IOException {
    Path path = name.isEmpty() ? root : new Path(root, name);
    FileSystem files = path.getFileSystem(configuration);
    List<String> names = new ArrayList<>();
    if (files.exists(path)) {
      for (FileStatus status : files.listStatus(path)) {
        names.add(status.getPath().getName());
      }
    }
    Collections.sort(names);
    return names;
  }

  /** Deletes the folder with all that is in it. */
  public void remove() throws IOException {
    root.getFileSystem(configuration).delete(root, true);
  }
}
