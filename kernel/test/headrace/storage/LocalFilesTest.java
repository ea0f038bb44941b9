package headrace.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalFilesTest {
  @TempDir java.nio.file.Path folder;
  private final Configuration configuration = new Configuration();

  @BeforeEach
  void configure() {
    configuration.set("fs.file.impl", LocalFiles.class.getName());
    configuration.set("fs.file.impl.disable.cache", "true");
    configuration.set("fs.AbstractFileSystem.file.impl", LocalFileContext.class.getName());
  }

  @Test
  void permissionsAreThoseThatWereAskedFor() throws Exception {
    FileSystem files = FileSystem.get(folder.toUri(), configuration);
    assertTrue(files instanceof LocalFileSystem);
    Path file = new Path(folder.resolve("a").toUri());
    files.create(file).close();
    assertEquals("rw-r--r--", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("a"))));
    files.setPermission(file, new FsPermission((short) 0640));
    assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("a"))));
    assertTrue(files.mkdirs(new Path(folder.resolve("d/e").toUri()), new FsPermission((short) 0750)));
    assertEquals("rwxr-x---", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("d/e"))));
    assertThrows(
        FileNotFoundException.class,
        () -> files.setPermission(new Path(folder.resolve("none").toUri()), new FsPermission((short) 0600)));
  }

  @Test
  void theStatusOfAFileIsFoundWithoutAProcess() throws Exception {
    FileContext files = FileContext.getFileContext(folder.toUri(), configuration);
    Files.writeString(folder.resolve("a"), "text");
    assertEquals(4, files.getFileLinkStatus(new Path(folder.resolve("a").toUri())).getLen());
    assertThrows(
        FileNotFoundException.class, () -> files.getFileLinkStatus(new Path(folder.resolve("none").toUri())));
  }

  @Test
  void filesHaveTheirChecksumsBeside() throws Exception {
    FileSystem files = FileSystem.get(folder.toUri(), configuration);
    try (var out = files.create(new Path(folder.resolve("a").toUri()))) {
      out.write(1);
    }
    assertTrue(Files.exists(folder.resolve(".a.crc")));
  }

  @Test
  void sparksCheckpointsAreWrittenWholeAndOverwritten() throws Exception {
    Path root = new Path(folder.toUri());
    CheckpointFileManager manager = CheckpointFileManager.create(root, configuration);
    assertEquals("file", FileContext.getFileContext(folder.toUri(), configuration).getDefaultFileSystem().getUri().getScheme());
    Path file = new Path(root, "0");
    for (String text : new String[] {"first", "second"}) {
      var out = manager.createAtomic(file, true);
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.close();
      try (var in = manager.open(file)) {
        assertArrayEquals(text.getBytes(StandardCharsets.UTF_8), in.readAllBytes());
      }
    }
    var out = manager.createAtomic(file, false);
    out.write(0);
    assertThrows(Exception.class, out::close);
  }
}
