"""The user that a server runs as: ourselves, or another one where we are root and it refuses to be."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import SetupError

_CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True)
class Owner:
    """A user of this machine without rights of root."""

    name: str
    uid: int
    gid: int

    def own(self, path: Path) -> None:
        """Give a file or folder to this user."""
        os.chown(path, self.uid, self.gid)

    def let_into(self, folder: Path) -> None:
        """Let this user pass through a folder of ours, and nobody else besides."""
        if not self._may_enter(folder):
            os.chown(folder, -1, self.gid)
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_IXGRP)

    def shut_out_by(self, folder: Path) -> Path | None:
        """Return the folder on the way to this one that keeps the user out; None when it gets there."""
        way = folder.resolve()
        return next((each for each in (*reversed(way.parents), way) if not self._may_enter(each)), None)

    def _may_enter(self, folder: Path) -> bool:
        found = folder.stat()
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


def besides_root(data: Path) -> Owner | None:
    """Return who a server runs as that refuses root: who owns its data, else a user without rights.

    None when we are not root, and it runs as ourselves.
    """
    if os.geteuid() != 0:
        return None
    if data.exists():
        found = data.stat()
        try:
            name = pwd.getpwuid(found.st_uid).pw_name
        except KeyError:
            name = str(found.st_uid)
        return Owner(name, found.st_uid, found.st_gid)
    for name in _CANDIDATES:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return Owner(name, user.pw_uid, user.pw_gid)
    raise SetupError(
        "PostgreSQL does not run as root, and this machine has no user without rights to run it as.",
        cure="run headrace as another user than root, or make a user named postgres",
    )
