"""One file fetched: resumed where it stopped, verified, and put in place at once."""

import fcntl
import hashlib
import http.client
import io
import os
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import SetupError
from headrace.local.mirror import VARIABLE, Mirror

_CHUNK = 1 << 16
_TIMEOUT_SECONDS = 30
_ATTEMPTS = 4
# Answers that another attempt may better.
_PASSING = {408, 416, 429, 500, 502, 503, 504}


class Stopped(Exception):  # noqa: N818 - not an error: another download failed and this one gave up
    """The download was asked to stop."""


@dataclass(frozen=True)
class Remote:
    """A file that is wanted: its path below the mirror, its exact size and its SHA-256."""

    path: str
    size: int
    sha256: str


def download(
    remote: Remote,
    mirror: Mirror,
    target: Path,
    *,
    report: Callable[[int], None],
    stop: threading.Event,
) -> None:
    """Fetch ``remote`` into ``target``.

    ``target`` either does not exist or is complete. What has arrived waits in ``target.part``, locked while a
    process writes to it: a second process waits for the first, and takes over if that one dies. ``report`` is
    told how many bytes have arrived in all.
    """
    part = target.with_name(target.name + ".part")
    with _locked(part) as file:
        if is_complete(target, remote):
            report(remote.size)
            return
        _fill(file, remote, mirror, report, stop)
        os.replace(part, target)


def is_complete(target: Path, remote: Remote) -> bool:
    """Tell whether the file is there; its sum was verified before it got its name."""
    try:
        return target.stat().st_size == remote.size
    except OSError:
        return False


def _locked(part: Path) -> io.BufferedRandom:
    while True:
        file = open(part, "a+b")  # noqa: SIM115, PTH123 - closed by the caller, which releases the lock
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            # The one who held the lock may have renamed the file that we have opened.
            if os.path.samestat(os.fstat(file.fileno()), part.stat()):
                return file
        except FileNotFoundError:
            pass
        file.close()


def _fill(  # noqa: C901 - one loop over attempts, clearer than its pieces
    file: io.BufferedRandom,
    remote: Remote,
    mirror: Mirror,
    report: Callable[[int], None],
    stop: threading.Event,
) -> None:
    failure: Exception | None = None
    for attempt in range(_ATTEMPTS):
        if attempt and stop.wait(2.0 ** (attempt - 2)):
            raise Stopped
        resumed_at = _size(file)
        if resumed_at > remote.size:
            file.truncate(0)
            resumed_at = 0
        report(resumed_at)
        try:
            if resumed_at < remote.size:
                _receive(file, remote, mirror, resumed_at, report, stop)
            file.flush()
            if _sha256(file) == remote.sha256:
                return
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                file.truncate(0)
            elif error.code not in _PASSING:
                raise _refused(remote, mirror, error.code) from None
            failure = error
        except (OSError, http.client.HTTPException) as error:
            failure = error
        else:
            # A bad sum is not cured by asking again, unless an old part was continued.
            file.truncate(0)
            if not resumed_at:
                raise _corrupt(remote, mirror)
            failure = None
    raise _unreachable(remote, mirror, failure)


def _receive(
    file: io.BufferedRandom,
    remote: Remote,
    mirror: Mirror,
    start: int,
    report: Callable[[int], None],
    stop: threading.Event,
) -> None:
    request = urllib.request.Request(mirror.root + remote.path)  # noqa: S310 - the mirror is http(s) or file
    if mirror.authorization:
        # Unredirected: a repository may send us on to a storage that must not see it.
        request.add_unredirected_header("Authorization", mirror.authorization)
    if start:
        request.add_header("Range", f"bytes={start}-")
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310
        continued = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        if start and not (continued and int(continued[1]) == start):
            file.truncate(0)
            start = 0
        received = start
        while chunk := response.read(_CHUNK):
            if stop.is_set():
                raise Stopped
            file.write(chunk)
            received += len(chunk)
            report(received)
            if received > remote.size:
                return
    if received < remote.size:
        raise http.client.IncompleteRead(b"", remote.size - received)


def _size(file: io.BufferedRandom) -> int:
    file.flush()
    return os.fstat(file.fileno()).st_size


def _sha256(file: io.BufferedRandom) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def _name(remote: Remote) -> str:
    return remote.path.rpartition("/")[2]


def _refused(remote: Remote, mirror: Mirror, code: int) -> SetupError:
    if code == http.HTTPStatus.NOT_FOUND:
        return SetupError(
            f"{mirror} does not have {remote.path}.",
            cure=f"set {VARIABLE} to a full mirror of Maven's central repository, or unset it",
        )
    return SetupError(
        f"{mirror} refused {_name(remote)} with HTTP status {code}.",
        cure=f"check the address and the rights at that repository, or set {VARIABLE} to another mirror",
    )


def _corrupt(remote: Remote, mirror: Mirror) -> SetupError:
    return SetupError(
        f"{_name(remote)} from {mirror} does not have the pinned SHA-256 checksum and was thrown away.",
        cure=f"run it again; if it stays so, that repository serves a wrong file: set {VARIABLE} to another",
    )


def _unreachable(remote: Remote, mirror: Mirror, failure: Exception | None) -> SetupError:
    reason = getattr(failure, "reason", None) or failure or "the transfer broke off"
    return SetupError(
        f"{_name(remote)} could not be fetched from {mirror}: {reason}.",
        cure="check the network (HTTPS_PROXY is honoured) and run it again, what has arrived is kept; "
        f"or set {VARIABLE} to a mirror of Maven's central repository that this machine reaches",
    )
