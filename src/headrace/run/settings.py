"""Settings of a run: headrace.toml, then environment variables, then arguments.

Every setting is one row of `KNOWN`, so that the file, the environment, the
command line and the documentation can never disagree about what exists.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from headrace.declare.duration import duration
from headrace.declare.postgres import SHAPE, Address, is_address
from headrace.errors import DeclarationError, SettingsError
from headrace.run import postgres

FILE = "headrace.toml"


@dataclass(frozen=True)
class Setting:
    """One thing that can be set: its dotted name, how it is read and what it means."""

    name: str
    read: Callable[[Any], Any]
    default: Any
    meaning: str

    @property
    def variable(self) -> str:
        """Name of the environment variable that sets it."""
        return "HEADRACE_" + re.sub(r"[.-]", "_", self.name).upper()


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a text that is not empty")
    return value


def _count(value: object) -> int:
    try:
        number = int(cast("str", value))
    except (TypeError, ValueError):
        number = 0
    if isinstance(value, bool | float) or number < 1:
        raise ValueError("a whole number from 1 on")
    return number


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError("true or false")


def _duration(value: object) -> timedelta:
    if not isinstance(value, str):
        raise ValueError('a duration such as "5 seconds"')  # noqa: TRY004 - one kind of error for the caller
    try:
        return duration(value, what="it")
    except DeclarationError as problem:
        # Its message shows the value, and knows no setting.
        raise ValueError('a duration such as "5 seconds"') from problem


def _positive(value: object) -> timedelta:
    length = _duration(value)
    if not length:
        raise ValueError('a duration longer than nothing, such as "5 seconds"')
    return length


def _options(value: object) -> dict[str, str]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as problem:
            raise ValueError("a JSON object of names and values") from problem
    if not isinstance(value, Mapping):
        raise ValueError("a table of names and values")  # noqa: TRY004
    return dict(_flat(value))


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield names and texts; TOML makes tables of names with dots in them that are not quoted."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif value is None or isinstance(value, list):
            raise ValueError(f"a table of names and single values, which {prefix}{name} is not")
        else:
            yield f"{prefix}{name}", _option_text(value)


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _store(value: object) -> str:
    place = _text(value)
    if is_address(place):
        postgres.parse(place)
    elif is_uri(place):
        raise ValueError(f"a folder of the driver's machine, or {SHAPE}")
    return place


KNOWN = (
    Setting(
        "checkpoint",
        _text,
        ".headrace/checkpoints",
        "folder or Hadoop URI; each pipeline gets a folder in it",
    ),
    Setting(
        "kafka.bootstrap", _text, None, "host:port of the brokers; without it, the Kafka of `headrace up`"
    ),
    Setting("kafka.create-topics", _switch, True, "create topics that are missing"),
    Setting("kafka.partitions", _count, 2, "partitions of topics that are created"),
    Setting(
        "kafka.replication",
        _count,
        None,
        "replicas of topics that are created; without it, the broker's default",
    ),
    Setting("kafka.options", _options, {}, "any option of the Kafka clients (TLS, SASL, …)"),
    # On a plain local[*] Spark tries no task again: one fenced producer or timeout would end the run.
    Setting("spark.master", _text, "local[*,4]", "where Spark runs: local[N], spark://…, yarn, k8s://…"),
    Setting("spark.options", _options, {}, "any option of Spark"),
    Setting("state.groups", _count, 64, "key groups of a new stateful step; fixed by the checkpoint"),
    Setting(
        "state.partitions",
        _count,
        None,
        "state partitions; without it, the cores of a local master; fixed by the checkpoint",
    ),
    Setting("epoch.target", _positive, timedelta(seconds=2), "how long an epoch with backlog should take"),
    Setting("epoch.max-rows", _count, 100_000, "rows of the first epoch, per source; adapts to epoch.target"),
    Setting("epoch.fixed-rows", _count, None, "rows per epoch and source that do not adapt"),
    Setting("epoch.interval", _duration, timedelta(0), "least time between the starts of two epochs"),
    Setting("epoch.retain", _count, 100, "epochs kept in the checkpoint"),
    Setting(
        "watermark.align",
        _duration,
        timedelta(minutes=10),
        "how far a source may run ahead of one of the same step that has yet to catch up; 0 seconds: off",
    ),
    Setting(
        "views.store",
        _store,
        ".headrace/views",
        "folder of the views, on the driver's machine, in which each pipeline gets an SQLite file; or "
        f"`{SHAPE}`, where each pipeline gets a schema",
    ),
    Setting(
        "metrics.keys", _switch, True, "show the keys that many rows have in metrics; false: only their share"
    ),
    Setting(
        "delivery.transaction-timeout",
        _positive,
        timedelta(seconds=60),
        "longest Kafka transaction of one task",
    ),
)
_BY_NAME = {setting.name: setting for setting in KNOWN}


@dataclass(frozen=True)
class Settings:
    """What holds for one run. `settings["kafka.bootstrap"]` gives a value."""

    values: Mapping[str, Any] = field(repr=False)
    folder: Path

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def checkpoint_of(self, pipeline: str) -> str:
        """Return the URI of a pipeline's checkpoint; one of this machine has a scheme too.

        Without one, Hadoop would look for it on its own default file system.
        """
        root = str(self["checkpoint"])
        if is_uri(root):
            return f"{root.rstrip('/')}/{pipeline}"
        return f"file://{(self.folder / Path(root).expanduser()).resolve() / pipeline}"

    def views_of(self, pipeline: str) -> Path | Address:
        """Return the file of a pipeline's views, or the database that they are in."""
        return self.views if isinstance(self.views, Address) else self.views / f"{pipeline}.db"

    @property
    def views(self) -> Path | Address:
        """Where all pipelines' views are: a folder, or a database."""
        place = str(self["views.store"])
        if is_address(place):
            return postgres.parse(place)
        return (self.folder / Path(place).expanduser()).resolve()


def load(
    arguments: Mapping[str, Any] | None = None, folder: Path | None = None, *, assigned: Iterable[str] = ()
) -> Settings:
    """Read headrace.toml in `folder` (or above it), then the environment, then the arguments.

    `arguments` are settings by name, None for one that is not given; `assigned` are texts `NAME=VALUE`,
    where NAME may go on into a table: ``kafka.options.security.protocol=SSL``.
    """
    here = (folder or Path.cwd()).absolute()
    file = _find(here)
    values = {setting.name: setting.default for setting in KNOWN}
    if file is not None:
        for name, value in _from_file(file).items():
            values[name] = _read(_BY_NAME[name], _expand(value, str(file)), str(file))
    for setting in KNOWN:
        if setting.variable in os.environ:
            value = _read(setting, os.environ[setting.variable], f"${setting.variable}")
            values[setting.name] = _seen_from(here, setting, value)
    for name, value in (arguments or {}).items():
        if value is not None:
            setting = _BY_NAME[name]
            values[name] = _seen_from(here, setting, _read(setting, value, f"argument for {name}"))
    for text in assigned:
        _assign(values, text, here)
    return Settings(values, file.parent if file else here)


def _assign(values: dict[str, Any], text: str, here: Path) -> None:
    name, is_one, value = text.partition("=")
    where = f"--set {name}"
    if not is_one:
        # What stands there may be a secret without its name.
        raise SettingsError("--set takes NAME=VALUE", cure="for example --set epoch.target='5 seconds'")
    for table in (setting.name for setting in KNOWN if setting.read is _options):
        if name.startswith(f"{table}."):
            values[table] = {**values[table], name.removeprefix(f"{table}."): value}
            return
    if name not in _BY_NAME:
        raise _unknown(name, where)
    values[name] = _seen_from(here, _BY_NAME[name], _read(_BY_NAME[name], value, where))


def _seen_from(folder: Path, setting: Setting, value: Any) -> Any:
    """Have a path that was not read from the file go by the working directory, as a shell's user means it."""
    if setting.name not in {"checkpoint", "views.store"} or is_uri(value):
        return value
    return str(folder / Path(value).expanduser())


def is_uri(place: str) -> bool:
    """Tell whether a place is given with its scheme (hdfs:, s3a:, file:)."""
    return re.match(r"^[a-z][a-z0-9+.-]*:", place) is not None


def _find(folder: Path) -> Path | None:
    for place in (folder, *folder.resolve().parents):
        if (place / FILE).is_file():
            return (place / FILE).resolve()
    return None


def _from_file(file: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as problem:
        raise SettingsError(f"{FILE} is not UTF-8", where=str(file), cure="save it as UTF-8") from problem
    except OSError as problem:
        raise SettingsError(f"{FILE} cannot be read: {problem.strerror}", where=str(file)) from problem
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(f"{FILE} is not valid TOML: {problem}", where=str(file)) from problem
    found: dict[str, Any] = {}
    for name, value in tables.items():
        if isinstance(value, dict):
            found |= {f"{name}.{inner}": inner_value for inner, inner_value in value.items()}
        else:
            found[name] = value
    for name in found:
        if name not in _BY_NAME:
            raise _unknown(name, str(file))
    return found


def _unknown(name: str, where: str) -> SettingsError:
    near = get_close_matches(name, _BY_NAME, 1)
    hint = f"did you mean {near[0]!r}?" if near else "docs/reference/settings.md lists all that exist"
    return SettingsError(f"there is no setting {name!r}", where=where, cure=hint)


def _read(setting: Setting, value: object, where: str) -> Any:
    try:
        return setting.read(value)
    except ValueError as problem:
        # The value is not shown: it may be a secret.
        raise SettingsError(f"{setting.name} must be {problem}", where=where) from problem


def _expand(value: object, where: str) -> object:
    """Replace ${NAME} by the environment's value, so that files hold no secrets."""
    if isinstance(value, dict):
        return {name: _expand(inner, where) for name, inner in value.items()}
    if not isinstance(value, str):
        return value

    def look_up(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise SettingsError(
                f"the environment has no variable {match[1]}", where=where, cure=f"export {match[1]}=…"
            )
        return os.environ[match[1]]

    return re.sub(r"\$\{(\w+)\}", look_up, value)
