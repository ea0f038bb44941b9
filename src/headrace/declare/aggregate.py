"""Aggregates: what a window makes of its rows."""

from dataclasses import dataclass, field
from typing import Literal

from headrace.declare import catalogue
from headrace.declare.arguments import check_arguments
from headrace.declare.expr import Call, Expression, Method, Value, column
from headrace.errors import DeclarationError

AggregateFunction = Literal["count", "sum", "min", "max", "avg", "first", "last", "approx_count_distinct"]

SUPPORTED: tuple[AggregateFunction, ...] = (
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "first",
    "last",
    "approx_count_distinct",
)
_CALLED: dict[str, AggregateFunction] = {
    **{name: name for name in SUPPORTED},
    "mean": "avg",
    "first_value": "first",
    "last_value": "last",
}
_LISTED = ", ".join(f"F.{name}" for name in SUPPORTED)
_FINEST = 1e-4


@dataclass(frozen=True)
class Aggregate:
    """One column of a window's result.

    `function` is one of SUPPORTED. `input` is the expression over an input row, None for ``count("*")``.
    `options` are ``rsd`` (approx_count_distinct) and ``ignore_nulls`` (first, last), each given only where
    it applies. First and last go by event time, equal times by the row's position in its topic.
    """

    name: str
    function: AggregateFunction
    input: Expression | None
    options: tuple[tuple[str, float | bool], ...] = ()
    where: str = field(default="", compare=False)

    def text(self) -> str:
        """Return ``sum(amount)``."""
        return f"{self.function}({self.input.text() if self.input else '*'})"


def aggregate(name: str | None, expression: Expression, where: str) -> Aggregate:
    """Return the aggregate that a recorded expression means; `name` is None where it brings its own."""
    bare, alias = _unaliased(expression)
    called = name or alias
    if not isinstance(bare, Call) or catalogue.section(bare.function) != "Aggregate":
        raise _refused(expression, where)
    if called is None:
        raise DeclarationError(
            f"the aggregate {expression.text()} has no name",
            where=where,
            cure=f"write .agg(total={_shown(bare)}), or .alias(...) on it",
        )
    function = _CALLED.get(bare.function)
    if function is None:
        raise DeclarationError(
            f"F.{bare.function} is not available in a window yet",
            where=where,
            cure=f"available are {_LISTED}; others follow later",
        )
    check_arguments(bare, where)
    return Aggregate(called, function, _input(bare, function, where), _options(bare, function, where), where)


def _unaliased(expression: Expression) -> tuple[Expression, str | None]:
    if isinstance(expression, Method) and expression.method in {"alias", "name"}:
        return expression.subject, expression.output_name()
    return expression, None


def _input(call: Call, function: AggregateFunction, where: str) -> Expression | None:
    given = call.argument(0, "col")
    if given is None:
        cure = f'write F.{call.function}("amount")' + (' or F.count("*")' if function == "count" else "")
        raise DeclarationError(f"F.{call.function} needs a column", where=where, cure=cure)
    if isinstance(given, Value):
        if given.value == "*" and function == "count":
            return None
        if not isinstance(given.value, str) or given.value == "*":
            raise DeclarationError(
                f"F.{call.function} takes a column, not {given.text()}",
                where=where,
                cure=f'write F.{call.function}("amount"), or F.lit(...) for a constant',
            )
        return column(given.value, where)
    if given.is_aggregate:
        raise DeclarationError(
            f"{call.text()} is an aggregate of an aggregate",
            where=where,
            cure="aggregate once here, and go on with .with_columns(...) or another window after it",
        )
    return given


def _options(call: Call, function: AggregateFunction, where: str) -> tuple[tuple[str, float | bool], ...]:
    if function == "approx_count_distinct":
        rsd = _literal(call.argument(1, "rsd"), 0.05, where)
        if isinstance(rsd, bool) or not isinstance(rsd, int | float) or not _FINEST <= rsd < 1:
            raise DeclarationError(
                f"approx_count_distinct cannot have a relative deviation of {rsd!r}",
                where=where,
                cure="give rsd between 0.0001 and 1; 0.05 is usual",
            )
        return (("rsd", float(rsd)),)
    if function in {"first", "last"}:
        second = call.argument(1, "ignorenulls") or dict(call.keywords).get("ignoreNulls")
        ignored = _literal(second, False, where)
        return (("ignore_nulls", bool(ignored)),)
    return ()


def _literal(given: Expression | None, default: float | bool, where: str) -> object:  # noqa: FBT001
    if given is None or given == Value(None):
        return default
    if isinstance(given, Call) and given.function == "lit":
        given = given.argument(0, "col")
    if isinstance(given, Value):
        return given.value
    raise DeclarationError(
        f"{given.text() if given else 'nothing'} is no constant", where=where, cure="give a plain value"
    )


def _refused(expression: Expression, where: str) -> DeclarationError:
    if expression.is_aggregate:
        return DeclarationError(
            f"{expression.text()} computes with aggregates",
            where=where,
            cure="name each aggregate in .agg(...), and compute in .with_columns(...) after it",
        )
    return DeclarationError(
        f"{expression.text()} is no aggregate", where=where, cure=f"available are {_LISTED}"
    )


def _shown(call: Call) -> str:
    inside = ", ".join(part.text() for part in call.children)
    return f"F.{call.function}({inside})"
