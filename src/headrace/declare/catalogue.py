"""What pyspark offers: its functions and the methods of its Column, read from its source text.

Importing pyspark takes most of a second and loads its gateway to the JVM; reading three files of it takes
a hundredth. Where the source is missing (a distribution of compiled files), nothing is known: names
are then checked by pyspark itself, when the plan is made.
"""

import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SECTION = re.compile(r"^    # (?P<section>.+?) [Ff]unctions$")
_ENTRY = re.compile(r'^    "(?P<name>\w+)",')
_FUNCTION = re.compile(r"^def (?P<name>[A-Za-z]\w*)\((?P<parameters>.*?)\) -> ", re.DOTALL | re.MULTILINE)
_METHOD = re.compile(r"^    def (?P<name>[A-Za-z]\w*)\(", re.MULTILINE)
_PARAMETER = re.compile(r"(?P<stars>\**)(?P<name>\w+)\s*:\s*(?P<annotation>.+)", re.DOTALL)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function: whether a string given for it names a column."""

    name: str
    takes_column: bool
    variadic: bool


def functions() -> frozenset[str]:
    """Return the names of all functions; empty when they are unknown."""
    return frozenset(_signatures())


def section(function: str) -> str | None:
    """Return the section of pyspark's documentation that a function stands in: "Aggregate"."""
    return _sections().get(function)


def parameters(function: str) -> tuple[Parameter, ...] | None:
    """Return the parameters of a function; None when they are unknown."""
    return _signatures().get(function)


@cache
def methods() -> frozenset[str]:
    """Return the names of the methods of a Column; empty when they are unknown."""
    return frozenset(match["name"] for match in _METHOD.finditer(_source("column.py")))


@cache
def _sections() -> dict[str, str]:
    current, found = "", {}
    for line in _source("functions/__init__.py").splitlines():
        if heading := _SECTION.match(line):
            current = heading["section"]
        elif entry := _ENTRY.match(line):
            found[entry["name"]] = current
    return found


@cache
def _signatures() -> dict[str, tuple[Parameter, ...]]:
    # Of overloaded functions the last definition, which is the implementation, stays.
    return {
        match["name"]: tuple(_parameters(match["parameters"]))
        for match in _FUNCTION.finditer(_source("functions/builtin.py"))
    }


def _parameters(text: str) -> list[Parameter]:
    found = []
    for part in _top_level(text):
        if match := _PARAMETER.match(part):
            takes_column = "ColumnOrName" in match["annotation"]
            found.append(Parameter(match["name"], takes_column, variadic=match["stars"] == "*"))
    return found


def _top_level(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()]


@cache
def _source(path: str) -> str:
    # Only the package itself is looked for: finding a submodule would import its parents.
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return ""
    file = Path(spec.origin).parent / "sql" / path
    return file.read_text(encoding="utf-8") if file.is_file() else ""
