package headrace.storage;

import org.apache.hadoop.fs.LocalFileSystem;

/** {@code file:} for Hadoop's FileSystem, with checksums like Hadoop's own: set as {@code fs.file.impl}. */
public final class LocalFiles extends LocalFileSystem {
  public LocalFiles() {
    super(new LocalRaw());
  }
}
