"""Settings of a run: headrace.toml, then environment variables, then arguments.

Every setting is one row of `KNOWN`, so that the file, the environment, the
command line and the documentation can never disagree about what exists.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from headrace.declare.duration import duration
from headrace.errors import SettingsError

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
    return duration(value, what="it")


def _options(value: object) -> dict[str, str]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as problem:
            raise ValueError("a JSON object of names and values") from problem
    if not isinstance(value, Mapping):
        raise ValueError("a table of names and values")  # noqa: TRY004
    return {str(name): _option_text(option) for name, option in value.items()}


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


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
    Setting("spark.master", _text, "local[*]", "where Spark runs: local[N], spark://…, yarn, k8s://…"),
    Setting("spark.options", _options, {}, "any option of Spark"),
    Setting("state.groups", _count, 64, "key groups of a new stateful step; fixed by the checkpoint"),
    Setting(
        "state.partitions",
        _count,
        None,
        "state partitions; without it, Spark's cores; fixed by the checkpoint",
    ),
    Setting("epoch.target", _duration, timedelta(seconds=2), "how long an epoch with backlog should take"),
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
        "delivery.transaction-timeout",
        _duration,
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
        """Return the checkpoint of a pipeline: a URI, or an absolute path for a local folder."""
        root = str(self["checkpoint"])
        if re.match(r"^[a-z][a-z0-9+.-]*:", root):
            return f"{root.rstrip('/')}/{pipeline}"
        return str((self.folder / root).resolve() / pipeline)


def load(arguments: Mapping[str, Any] | None = None, folder: Path | None = None) -> Settings:
    """Read headrace.toml in `folder` (or above it), then the environment, then `arguments`."""
    file = _find(folder or Path.cwd())
    values = {setting.name: setting.default for setting in KNOWN}
    if file is not None:
        for name, value in _from_file(file).items():
            values[name] = _read(_BY_NAME[name], value, str(file))
    for setting in KNOWN:
        if setting.variable in os.environ:
            values[setting.name] = _read(setting, os.environ[setting.variable], f"${setting.variable}")
    for name, value in (arguments or {}).items():
        if value is not None:
            values[name] = _read(_BY_NAME[name], value, f"argument for {name}")
    return Settings(values, file.parent if file else (folder or Path.cwd()))


def _find(folder: Path) -> Path | None:
    for place in (folder, *folder.resolve().parents):
        if (place / FILE).is_file():
            return (place / FILE).resolve()
    return None


def _from_file(file: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
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
            near = get_close_matches(name, _BY_NAME, 1)
            hint = f"did you mean {near[0]!r}?" if near else "docs/reference/settings.md lists all that exist"
            raise SettingsError(f"there is no setting {name!r}", where=str(file), cure=hint)
    return found


def _read(setting: Setting, value: object, where: str) -> Any:
    try:
        return setting.read(_expand(value, where))
    except ValueError as problem:
        # The value is not shown: it may be a secret.
        raise SettingsError(
            f"{setting.name} has a value that cannot be used: {problem}", where=where
        ) from problem


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
