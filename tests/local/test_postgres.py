"""The local PostgreSQL: data that stay, a password, this machine alone, and life after `kill -9`."""

import json
import os
import re
import shlex
import shutil
import socket
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg
import pytest

from headrace.cli import exit_code_of
from headrace.errors import SetupError
from headrace.local import artefacts
from headrace.local.owner import Owner, besides_root
from headrace.local.ports import LOOPBACK
from headrace.local.process import until
from headrace.local.stack import Stack

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def home():
    """A folder as HEADRACE_HOME names it; the server runs on when a test ends, as its next one expects."""
    folder = Path(tempfile.mkdtemp(prefix="headrace-home-"))
    # Root's server runs as somebody else.
    folder.chmod(0o755)
    with Stack(folder / "local", anywhere=True):
        yield folder
    shutil.rmtree(folder)


@pytest.fixture
def stack(home, monkeypatch):
    stack = Stack(home / "local", anywhere=True)
    monkeypatch.setenv("PGPASSFILE", str(stack.folder / "postgres" / "pgpass"))
    monkeypatch.setenv("HEADRACE_HOME", str(home))
    return stack


def up(stack):
    return stack.up(["postgres"])["postgres"]


def ask(address, sql):
    with psycopg.connect(address) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def is_there(address, sql):
    return ask(address, sql) != []


def port_of(address):
    return int(re.search(r":(\d+)/", address)[1])


def test_it_is_started_when_it_is_named_and_keeps_its_data(stack):
    address = up(stack)
    assert re.fullmatch(r"postgresql://headrace@127\.0\.0\.1:\d+/headrace", address)
    assert ask(address, "SHOW wal_level") == [("logical",)]
    ask(address, "CREATE TABLE kept AS SELECT 7 AS n")
    assert stack.down() == ["postgres"]
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((LOOPBACK, port_of(address)))
        other.listen()
        moved = up(stack)
    assert moved != address
    assert ask(moved, "SELECT n FROM kept") == [(7,)]
    assert stack.status()["kafka"].state == "never started"


def test_nobody_gets_in_without_the_password(stack, monkeypatch):
    address = up(stack)
    secret = stack.folder / "postgres" / "pgpass"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    monkeypatch.setenv("PGPASSFILE", os.devnull)
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(address)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(address, password="guessed")  # noqa: S106
    password = secret.read_text().strip().rpartition(":")[2]
    for written in (stack.log("postgres"), stack.folder / "postgres" / "process.json"):
        assert password not in written.read_text()


def test_the_commands_know_it(stack, capfd):
    address = up(stack)
    capfd.readouterr()
    assert exit_code_of(["status", "postgres"]) == 0
    shown = capfd.readouterr().out
    assert address in shown
    file = re.search(r"^ +PGPASSFILE=(.*) psql (\S+)$", shown, re.MULTILINE)
    assert (shlex.split(file[1]), file[2]) == ([os.environ["PGPASSFILE"]], address)
    assert exit_code_of(["status", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["postgres"]["connect"].endswith(address)
    assert exit_code_of(["logs", "postgres"]) == 0
    assert "database system is ready" in capfd.readouterr().out
    assert exit_code_of(["down", "postgres"]) == 0
    assert "stopped postgres" in capfd.readouterr().out


def test_it_listens_on_this_machine_alone(stack):
    address = up(stack)
    assert ask(address, "SHOW listen_addresses") == [(LOOPBACK,)]
    assert ask(address, "SHOW unix_socket_directories") == [("",)]


def test_killed_it_comes_back_with_what_was_committed(stack):
    """Also while sessions of it are at work, which live on for a moment and would keep a server away."""
    for number in range(2):
        address = up(stack)
        ask(address, f"CREATE TABLE survives{number} (n int)")
        pid = stack.status()["postgres"].pid
        with ThreadPoolExecutor() as pool, psycopg.connect(address):
            busy = pool.submit(ask, address, "SELECT count(*) FROM generate_series(1, 8000000) AS busy")
            looks = "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%AS busy' AND state = 'active'"
            assert until(partial(is_there, address, looks), within=30, every=0.01)
            os.kill(pid, 9)
            assert until(lambda: stack.status()["postgres"].state == "stopped", within=30)
            # A number that another program has got meanwhile is not taken for the server.
            lock = stack.folder / "postgres" / "data" / "postmaster.pid"
            lock.write_text(lock.read_text().replace(str(pid), str(os.getpid()), 1))
            address = up(stack)
            assert busy.exception(30) is None or isinstance(busy.exception(), psycopg.OperationalError)
        made = "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'survives%'"
        assert ask(address, made) == [(number + 1,)]


def test_a_password_that_is_gone_is_told(stack):
    up(stack)
    stack.down()
    secret = stack.folder / "postgres" / "pgpass"
    kept = secret.read_text()
    secret.unlink()
    with pytest.raises(SetupError, match="password of the local PostgreSQL is gone"):
        up(stack)
    secret.write_text(kept)
    secret.chmod(0o600)
    up(stack)


def test_data_of_another_version_are_told(stack):
    up(stack)
    stack.down()
    version = stack.folder / "postgres" / "data" / "PG_VERSION"
    kept = version.read_text()
    version.write_text("12\n")
    with pytest.raises(SetupError, match="are PostgreSQL 12's"):
        up(stack)
    version.write_text(kept)


def test_a_set_is_there_for_each_system(monkeypatch):
    for system, processor in (("Linux", "aarch64"), ("Darwin", "arm64"), ("Darwin", "x86_64")):
        monkeypatch.setattr("platform.system", lambda value=system: value)
        monkeypatch.setattr("platform.machine", lambda value=processor: value)
        [artefact] = artefacts.lock()[artefacts.for_platform("postgres")]
        assert system.lower() in artefact.name
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(SetupError, match="no local postgres for darwin on riscv64"):
        artefacts.for_platform("postgres")


def test_a_folder_that_the_servers_user_cannot_enter_is_named(tmp_path, monkeypatch):
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    somebody = Owner("somebody", os.getuid() + 4711, os.getgid() + 4711)
    tmp_path.chmod(0o700)
    assert somebody.shut_out_by(inner) in {tmp_path, *tmp_path.parents}
    ours = Owner("ourselves", os.getuid(), os.getgid())
    assert ours.shut_out_by(inner) is None
    inner.parent.chmod(0o600)
    assert ours._may_enter(inner.parent) is False
    inner.parent.chmod(0o700)
    assert (besides_root(inner) is None) == (os.geteuid() != 0)
    if os.geteuid() == 0:
        with pytest.raises(SetupError, match="cannot enter") as raised:
            Stack(inner / "local", anywhere=True).up(["postgres"])
        assert "HEADRACE_HOME" in raised.value.cure
