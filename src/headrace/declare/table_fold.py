"""Folds: a state for each key, made anew of itself and each row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from headrace.declare.datatype import DataType
from headrace.declare.expr import Call, Expression, Value
from headrace.declare.functions import F
from headrace.declare.keyed import keyed
from headrace.declare.node import Port, Projection
from headrace.declare.projection import check_expression
from headrace.declare.recorded import Recorded, captured
from headrace.declare.suggestion import did_you_mean
from headrace.declare.table_node import TableStep
from headrace.errors import DeclarationError

STATE, ROW = "state", "row"
"""What a fold's expressions read: a struct of the state, and one of the row."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FoldNode(TableStep):
    """A table of a state for each key; `steps` read the structs ``state`` and ``row``."""

    verb: ClassVar[str] = "fold"

    initial: tuple[Projection, ...]
    steps: tuple[Projection, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The key and the fields of the state."""
        return (*self.keys, *(each.name for each in self.initial))

    @property
    def grows(self) -> str:
        """A state a key."""
        return "one state for each key"

    def _type(self, column: str) -> DataType | None:
        return self.parents[0].column_type(column) if column in self.keys else None


def fold(port: Port, name: str, initial: Any, step: Any, by: Any, where: str) -> FoldNode:
    """Return the node of a fold."""
    columns = (by,) if isinstance(by, str) else tuple(by)
    keys = keyed(port, columns, where).keys
    begin = _initial(initial, keys, where)
    if not callable(step) or isinstance(step, Recorded):
        raise DeclarationError(
            f"the step of a fold is a function of state and row, not {step!r}",
            where=where,
            cure='write step=lambda state, row: {"n": state["n"] + 1}',
        )
    made = _called(step, where)
    fields = [each.name for each in begin]
    for field in made:
        if field not in fields:
            raise DeclarationError(
                f'the step gives "{field}", which the state does not have',
                where=where,
                cure=f"{did_you_mean(str(field), fields, what='fields')}, or add it to initial=",
            )
    steps = tuple(
        Projection(field, _checked(made.get(field, F.col(STATE)[field]), port, fields, where))
        for field in fields
    )
    return FoldNode(name=name, where=where, parents=(port,), keys=keys, initial=begin, steps=steps)


def _initial(initial: Any, keys: tuple[str, ...], where: str) -> tuple[Projection, ...]:
    if not isinstance(initial, Mapping) or not initial:
        raise DeclarationError(
            f"a fold begins with a state of named fields, not {initial!r}",
            where=where,
            cure='write initial={"n": 0}',
        )
    made = []
    for name, value in initial.items():
        if not isinstance(name, str) or not name or name.startswith("__"):
            raise DeclarationError(
                f"{name!r} is no name of a field", where=where, cure='write initial={"n": 0}'
            )
        if name in keys:
            raise DeclarationError(
                f'the state has a field "{name}", and so has the key', where=where, cure="rename the field"
            )
        expression = captured(value, where)
        if isinstance(expression, Value):
            if expression.value is None:
                raise DeclarationError(
                    f'the field "{name}" of the state begins with None, which has no type',
                    where=where,
                    cure=f'write F.lit(None).cast("string"), or what {name} is',
                )
            expression = Call("lit", (expression,), where=where)
        if expression.references():
            raise DeclarationError(
                f'the field "{name}" of the state begins with {expression.text()}, which reads a row',
                where=where,
                cure="begin with a constant; the first row is the step's",
            )
        made.append(Projection(name, expression))
    return tuple(made)


def _called(step: Callable[..., Any], where: str) -> Mapping[str, Any]:
    try:
        made = step(F.col(STATE), F.col(ROW))
    except TypeError as wrong:
        raise DeclarationError(
            f"the step of the fold cannot be called: {wrong}",
            where=where,
            cure="give it two parameters, state and row",
        ) from wrong
    if not isinstance(made, Mapping):
        raise DeclarationError(
            f"the step of the fold returned {made!r}",
            where=where,
            cure='return the fields of the new state: {"n": state["n"] + 1}',
        )
    return made


def _checked(value: Any, port: Port, fields: list[str], where: str) -> Expression:
    expression = captured(value, where)
    if isinstance(expression, Value):
        expression = Call("lit", (expression,), where=where)
    check_expression(expression, where)
    if expression.udfs():
        raise DeclarationError(
            f"{expression.text()} calls a Python function, and a fold runs in the kernel",
            where=where,
            cure="compute it before: .with_columns(...).fold(...)",
        )
    known = {STATE: fields, ROW: None if port.columns is None else list(port.columns)}
    for root, *rest in sorted(expression.paths() or ()):
        if root not in known:
            raise DeclarationError(
                f'the step of the fold reads "{root}"',
                where=where,
                cure=f'read the row by the parameter: row["{root}"]',
            )
        names = known[root]
        if rest and names is not None and rest[0] not in names:
            raise DeclarationError(
                f'the {root} has no field "{rest[0]}"',
                where=where,
                cure=did_you_mean(rest[0], names, what="fields"),
            )
    return expression
