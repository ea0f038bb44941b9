"""PostgreSQL on this machine: one server in a folder, with a password, reachable from this machine only."""

import os
import secrets
import shlex
import shutil
import signal
import subprocess
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from headrace.errors import SetupError
from headrace.local import artefacts, folders, owner, program
from headrace.local.owner import Owner
from headrace.local.ports import LOOPBACK, answers
from headrace.local.process import until
from headrace.local.services import Service

USER = "headrace"
DATABASE = "headrace"


class Postgres(Service):
    """A PostgreSQL with one user and one database, both named headrace.

    The password is made at the first start and kept beside the data in the file ``pgpass``, which libpq and
    the JDBC driver read themselves when the variable PGPASSFILE names it.
    """

    name: ClassVar[str] = "postgres"
    ports: ClassVar[dict[str, int]] = {"server": 5432}
    by_default: ClassVar[bool] = False
    # To end its clients' sessions; asked by SIGTERM it would wait until they do.
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT

    def jars(self) -> tuple[str, ...]:
        return (artefacts.for_platform("postgres"),)

    @property
    def address(self) -> str:
        """Where clients connect to, without the password."""
        return f"postgresql://{USER}@{super().address}/{DATABASE}"

    @property
    def password_file(self) -> Path:
        """The file with the password, as PGPASSFILE names it."""
        return self.folder / "pgpass"

    def connect(self) -> str:
        return f"PGPASSFILE={shlex.quote(str(self.password_file))} psql {self.address}"

    def prepare(self, ports: dict[str, int]) -> None:
        """Make the data folder at the first start; after a kill, wait for what is left of the server."""
        self._port = ports["server"]
        if self.owner is not None:
            self._open_for(self.owner)
        if not self._data.exists():
            self._make()
            return
        if not self.password_file.is_file():
            raise SetupError(
                f"The password of the local PostgreSQL is gone: there is no {self.password_file}.",
                cure=f"restore that file; deleting {self.folder} begins with an empty PostgreSQL",
            )
        made_by = (self._data / "PG_VERSION").read_text("utf-8").strip()
        if made_by != self._version.partition(".")[0]:
            raise SetupError(
                f"The data in {self._data} are PostgreSQL {made_by}'s, and this is {self._version}.",
                cure=f"export them with that version; deleting {self.folder} begins with an empty PostgreSQL",
            )
        self._outlive_former_self()

    def command(self) -> list[str]:
        settings = _SETTINGS | {"port": str(self._port)}
        assigned = [f"--{name}={value}" for name, value in settings.items()]
        return [str(self._program / "bin" / "postgres"), "-D", str(self._data), *assigned]

    def is_ready(self, ports: dict[str, int]) -> bool:
        """Log in with the password and ask for something."""
        if not answers(ports["server"]):
            return False
        import psycopg

        try:
            with psycopg.connect(
                host=LOOPBACK,
                port=ports["server"],
                user=USER,
                dbname=DATABASE,
                password=self._password(),
                connect_timeout=2,
                # What PG* variables say is meant for other servers.
                sslmode="disable",
                gssencmode="disable",
            ) as connection:
                return connection.execute("SELECT 1").fetchone() == (1,)
        except psycopg.OperationalError:
            return False

    @cached_property
    def owner(self) -> Owner | None:
        return owner.besides_root(self._data)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _version(self) -> str:
        [artefact] = artefacts.lock()[self.jars()[0]]
        return artefact.version

    @cached_property
    def _program(self) -> Path:
        """The folder with the unpacked program: the user's cache, if who runs it gets there."""
        [jar] = artefacts.jars(*self.jars())
        cached = folders.cache() / "programs"
        if self.owner is not None:
            cached.mkdir(parents=True, exist_ok=True)
            if self.owner.shut_out_by(cached) is not None:
                return program.unpack(jar, self.folder / f"program-{self._version}")
        return program.unpack(jar, cached / jar.stem)

    def _open_for(self, user: Owner) -> None:
        for ours in (self.folder.parent, self.folder):
            user.let_into(ours)
        closed = user.shut_out_by(self.folder)
        if closed is not None:
            raise SetupError(
                f"PostgreSQL does not run as root, and {user.name}, as whom it would run, "
                f"cannot enter {closed} on the way to its data in {self.folder}.",
                cure="set HEADRACE_HOME to a folder that everybody can enter, such as /var/lib/headrace; "
                "or run headrace as another user than root",
            )

    def _make(self) -> None:
        """Make the data folder aside, so that it is there as a whole or not at all."""
        fresh, given = self.folder / "data.new", self.folder / "password.new"
        shutil.rmtree(fresh, ignore_errors=True)
        if not self.password_file.is_file():
            line = f"{LOOPBACK}:*:*:{USER}:{secrets.token_hex(24)}\n"
            _write_secretly(self.password_file, line)
        fresh.mkdir(mode=0o700)
        _write_secretly(given, self._password() + "\n")
        try:
            if self.owner is not None:
                self.owner.own(fresh)
                self.owner.own(given)
            self._run("initdb", "-D", str(fresh), f"--username={USER}", f"--pwfile={given}", *_INITIAL)
        finally:
            given.unlink()
        self._run("postgres", "--single", "-D", str(fresh), "postgres", asked=f"CREATE DATABASE {DATABASE}\n")
        os.replace(fresh, self._data)

    def _run(self, name: str, *arguments: str, asked: str | None = None) -> None:
        user = self.owner
        ran = subprocess.run(
            [str(self._program / "bin" / name), *arguments],
            cwd=self.folder,
            env=self.variables(),
            input=asked,
            capture_output=True,
            text=True,
            check=False,
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
        )
        if ran.returncode != 0:
            raise SetupError(
                f"PostgreSQL could not make its data in {self.folder}:\n{ran.stdout}{ran.stderr}".rstrip(),
                cure="make sure that the folder can be written and the disk has space",
            )

    def _outlive_former_self(self) -> None:
        """Wait until no process of a killed server uses the data, and take its lock away.

        Its children end as soon as they notice, and no server starts on the data before that. The lock names
        a process, and its number may be another program's by now, which would be taken for the server.
        """
        if not Path("/proc/self/cwd").exists():
            return
        if not until(lambda: not self._at_work(), within=self.stopped_within):
            raise SetupError(
                f"Processes of a former PostgreSQL still use {self._data}: {self._at_work()}.",
                cure="wait until they have ended, or end them",
            )
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def _at_work(self) -> list[int]:
        data = str(self._data.resolve())
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if str((process / "cwd").readlink()) == data:
                    found.append(int(process.name))
            except OSError:
                # It has ended meanwhile, or is another user's.
                continue
        return found

    def _password(self) -> str:
        return self.password_file.read_text("utf-8").strip().rpartition(":")[2]


def _write_secretly(file: Path, text: str) -> None:
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)


_INITIAL = (
    # For its superuser too: other users of the machine reach the port as well.
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    # Texts in the order of their code points, as SQLite and Spark have them, on every system.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
)

_SETTINGS = {
    "listen_addresses": LOOPBACK,
    # A path of a socket may not be longer than about a hundred characters, and folders are.
    "unix_socket_directories": "",
    # For changes to be captured.
    "wal_level": "logical",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Fit for a laptop.
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
}
