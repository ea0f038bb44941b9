package headrace.storage;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The plain files of this machine. Where its native library is missing, which is everywhere but on a Hadoop
 * cluster, Hadoop's own starts a process for each file it makes ({@code chmod}) and eight for each file it
 * writes whole ({@code readlink}, before and in the rename): tens of milliseconds in every epoch.
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

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    return Files.isSymbolicLink(pathToFile(path).toPath()) ? super.getFileLinkStatus(path) : getFileStatus(path);
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
