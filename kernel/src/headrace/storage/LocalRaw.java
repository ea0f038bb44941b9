package headrace.storage;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The plain files of this machine. Hadoop's own starts a {@code chmod} process for every file and folder
 * it makes where its native library is missing, which is everywhere but on a Hadoop cluster.
 */
public final class LocalRaw extends RawLocalFileSystem {
  private static final PosixFilePermission[] BY_BIT = {
    PosixFilePermission.OTHERS_EXECUTE,
    PosixFilePermission.OTHERS_WRITE,
    PosixFilePermission.OTHERS_READ,
    PosixFilePermission.GROUP_EXECUTE,
    PosixFilePermission.GROUP_WRITE,
    PosixFilePermission.GROUP_READ,
    PosixFilePermission.OWNER_EXECUTE,
    PosixFilePermission.OWNER_WRITE,
    PosixFilePermission.OWNER_READ,
  };

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    PosixFileAttributeView view =
        Files.getFileAttributeView(pathToFile(path).toPath(), PosixFileAttributeView.class);
    if (view == null || permission.getStickyBit()) {
      // Not a POSIX file system, or a bit that Java cannot set.
      super.setPermission(path, permission);
      return;
    }
    try {
      view.setPermissions(permissions(permission.toShort()));
    } catch (NoSuchFileException missing) {
      throw (IOException) new FileNotFoundException("File " + path + " does not exist").initCause(missing);
    }
  }

  static Set<PosixFilePermission> permissions(int mode) {
    Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
    for (int bit = 0; bit < BY_BIT.length; bit++) {
      if ((mode & 1 << bit) != 0) {
        permissions.add(BY_BIT[bit]);
      }
    }
    return permissions;
  }
}
