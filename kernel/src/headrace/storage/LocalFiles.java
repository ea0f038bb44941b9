package headrace.storage;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.spark.SparkContext;

/** {@code file:} for Hadoop's FileSystem, with checksums like Hadoop's own. */
public final class LocalFiles extends LocalFileSystem {
  public LocalFiles() {
    super(new LocalRaw());
  }

  /**
   * Makes all {@code file:} access of a running Spark go this way, FileSystem and FileContext.
   *
   * <p>After the start and not as a Spark option: spark-submit opens local files before it knows our jar,
   * and would fail to find this class.
   */
  public static void install(SparkContext spark) throws IOException {
    Configuration configuration = spark.hadoopConfiguration();
    configuration.set("fs.file.impl", LocalFiles.class.getName());
    configuration.set("fs.AbstractFileSystem.file.impl", LocalFileContext.class.getName());
    // Closing takes it out of Hadoop's cache; whoever holds it can go on, there is nothing to close.
    FileSystem.get(URI.create("file:///"), configuration).close();
  }
}
