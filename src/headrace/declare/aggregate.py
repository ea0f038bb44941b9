"""Aggregates: what a window makes of its rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.declare import catalogue
from headrace.declare.aggregate_functions import LIMIT, SQL_ONLY, Function, function
from headrace.declare.arguments import check_arguments
from headrace.declare.expr import Call, Expression, Items, Method, Value, column
from headrace.declare.recorded import Recorded, captured
from headrace.errors import DeclarationError, caller

if TYPE_CHECKING:
    from pyspark.sql import Column

_USUAL = (
    "F.count, F.sum, F.avg, F.min, F.max, F.first, F.last, F.max_by, F.collect_list, F.approx_count_distinct"
)
_LISTED = f"{_USUAL} and those of docs/reference/aggregates.md"
_INSTEAD = {
    "median": 'F.percentile_approx("amount", 0.5)',
    "percentile": 'F.percentile_approx("amount", 0.5)',
    "mode": 'F.call_function("approx_top_k", "country", F.lit(1))',
    "count_if": "F.count(F.when(..., 1))",
    "sum_distinct": 'F.collect_set("amount"), and F.aggregate in .with_columns(...) after it',
    **dict.fromkeys(
        ("listagg", "string_agg", "listagg_distinct", "string_agg_distinct"),
        'F.collect_list("name"), and F.array_join in .with_columns(...) after it',
    ),
}
_FINEST = 1e-4
_MOST = 10_000_000


@dataclass(frozen=True)
class Aggregate:
    """One column of a window's result.

    `function` is the name of one of aggregate_functions.FUNCTIONS. `inputs` are the expressions over an
    input row that it reads, none for ``count("*")``. `options` are ``rsd`` (approx_count_distinct),
    ``ignore_nulls`` (first, last), ``limit`` (what keeps values) and ``columns`` (how many inputs, if more
    than one), each given only where it applies. `call` is what the user wrote: Spark is asked what it gives.
    """

    name: str
    function: str
    inputs: tuple[Expression, ...]
    options: tuple[tuple[str, float | bool], ...] = ()
    call: Expression = field(default=Value(None), compare=False)
    where: str = field(default="", compare=False)

    @property
    def takes(self) -> Function:
        """What the function takes."""
        found = function(self.function)
        if found is None:
            raise KeyError(self.function)
        return found

    @property
    def input(self) -> Expression | None:
        """The one expression that is computed of a row; None for all rows alike."""
        return self.cast()

    def cast(self, types: Sequence[str | None] = ()) -> Expression | None:
        """Return the input with its parts cast to types, where there are any; several parts are a struct."""
        parts = [
            Method(part, "cast", (Value(kind),), where=self.where) if kind else part
            for part, kind in zip(self.inputs, types or [None] * len(self.inputs), strict=True)
        ]
        if len(parts) <= 1:
            return parts[0] if parts else None
        named = [Method(part, "alias", (Value(f"v{place}"),)) for place, part in enumerate(parts)]
        return Call("struct", tuple(named), where=self.where)

    def text(self) -> str:
        """Return ``sum(amount)``."""
        if self.takes.analysed:
            return self.call.text()
        return f"{self.function}({', '.join(part.text() for part in self.inputs) or '*'})"


@dataclass(frozen=True)
class Limited(Expression):
    """An aggregate that keeps values, and how many it may keep."""

    of: Expression
    limit: int

    @property
    def children(self) -> tuple[Expression, ...]:
        """The aggregate."""
        return (self.of,)

    def text(self) -> str:
        """Return the aggregate as it is without a limit."""
        return self.of.text()


def limited(aggregate: "Column", values: int) -> "Column":
    """Let an aggregate that keeps values keep so many for a key and window; without it, 10,000.

    With more than that it is null, and a row leaves through ``.rejected`` that says so.

    >>> windows.agg(items=limited(F.collect_list("item"), 1000))  # doctest: +SKIP
    """
    where = caller()
    if type(values) is not int or not 0 < values <= _MOST:
        raise DeclarationError(
            f"an aggregate cannot be limited to {values!r} values",
            where=where,
            cure=f'give a whole number from 1 to {_MOST:,}: limited(F.collect_list("item"), 1000)',
        )
    made: Any = Recorded(Limited(captured(aggregate, where), values, where=where))
    return made  # type: ignore[no-any-return]


def aggregate(name: str | None, expression: Expression, where: str) -> Aggregate:
    """Return the aggregate that a recorded expression means; `name` is None where it brings its own."""
    bare, alias, limit = _unwrapped(expression)
    called = name or alias
    if not isinstance(bare, Call):
        raise _refused(expression, where)
    call = _in_sql(bare)
    found = function(call.function)
    if found is None and catalogue.section(call.function) != "Aggregate":
        raise _refused(expression, where)
    if called is None:
        raise DeclarationError(
            f"the aggregate {expression.text()} has no name",
            where=where,
            cure=f"write .agg(total={_shown(bare)}), or .alias(...) on it",
        )
    if found is None:
        instead = _INSTEAD.get(call.function)
        raise DeclarationError(
            f"F.{call.function} is not available in a window yet",
            where=where,
            cure=f"{f'write {instead}; ' if instead else ''}available are {_LISTED}; others follow later",
        )
    check_arguments(call, where)
    if limit is not None and not found.limited:
        raise DeclarationError(
            f"{call.function} keeps no values, so there is nothing to limit",
            where=where,
            cure="leave limited(...) away; it is for F.collect_list, F.collect_set and F.count_distinct",
        )
    inputs = tuple(_inputs(call, found, where))
    options = (*_options(call, found, limit, where), *([("columns", len(inputs))] if len(inputs) > 1 else []))
    return Aggregate(called, found.name, inputs, options, bare, where)


def _unwrapped(expression: Expression) -> tuple[Expression, str | None, int | None]:
    alias, limit = None, None
    while True:
        if isinstance(expression, Limited):
            limit = expression.limit if limit is None else limit
            expression = expression.of
        elif isinstance(expression, Method) and expression.method in {"alias", "name"}:
            alias = alias or expression.output_name()
            expression = expression.subject
        else:
            return expression, alias, limit


def _in_sql(call: Call) -> Call:
    """Return a call by its name in SQL as the call itself, if it has no other name."""
    named = call.argument(0, "funcName") if call.function == "call_function" else None
    if isinstance(named, Value) and named.value in SQL_ONLY:
        return Call(str(named.value), call.arguments[1:], where=call.where)
    return call


def _inputs(call: Call, takes: Function, where: str) -> Iterator[Expression]:
    if takes.name == "count" and call.argument(0, "col") == Value("*"):
        return
    given = [call.argument(place, name) for place, name in enumerate(takes.columns)]
    if not takes.columns:
        given = list(call.children) or [None]
    for part in given:
        yield _input(call, part, where)


def _input(call: Call, given: Expression | None, where: str) -> Expression:
    takes = function(call.function)
    many = takes is not None and len(takes.columns) > 1
    example = f'F.{call.function}("amount"' + (', "at")' if many else ")")
    if given is None:
        cure = f"write {example}" + (' or F.count("*")' if call.function == "count" else "")
        needs = "two columns" if many else "a column"
        raise DeclarationError(f"F.{call.function} needs {needs}", where=where, cure=cure)
    if isinstance(given, Value):
        if not isinstance(given.value, str) or given.value == "*":
            raise DeclarationError(
                f"F.{call.function} takes a column, not {given.text()}",
                where=where,
                cure=f"write {example}, or F.lit(...) for a constant",
            )
        return column(given.value, where)
    if given.is_aggregate:
        raise DeclarationError(
            f"{call.text()} is an aggregate of an aggregate",
            where=where,
            cure="aggregate once here, and go on with .with_columns(...) or another window after it",
        )
    return given


def _options(
    call: Call, takes: Function, limit: int | None, where: str
) -> tuple[tuple[str, float | bool], ...]:
    if takes.limited:
        return (("limit", LIMIT if limit is None else limit),)
    match takes.name:
        case "approx_count_distinct":
            return (("rsd", _deviation(call, where)),)
        case "first" | "last":
            keywords = dict(call.keywords)
            second = call.argument(1, "ignorenulls") or keywords.get("ignoreNulls")
            return (("ignore_nulls", bool(_literal(second, False, where))),)
        case "min_by" | "max_by" if _literal(call.argument(2, "k"), False, where) is not False:
            raise DeclarationError(
                f"F.{call.function} of several rows is not available in a window yet",
                where=where,
                cure=f"leave k away, or collect them: limited(F.collect_list(F.struct(...)), {LIMIT})",
            )
        case "count_min_sketch" if _literal(call.argument(3, "seed"), None, where) is None:
            raise DeclarationError(
                "F.count_min_sketch has no seed: the sketches of two starts would not merge",
                where=where,
                cure='give any number: F.count_min_sketch("card", 0.01, 0.95, 42)',
            )
        case "percentile_approx":
            _check_percentages(call, where)
    return ()


def _deviation(call: Call, where: str) -> float:
    rsd = _literal(call.argument(1, "rsd"), 0.05, where)
    if isinstance(rsd, bool) or not isinstance(rsd, int | float) or not _FINEST <= rsd < 1:
        raise DeclarationError(
            f"approx_count_distinct cannot have a relative deviation of {rsd!r}",
            where=where,
            cure="give rsd between 0.0001 and 1; 0.05 is usual",
        )
    return float(rsd)


def _check_percentages(call: Call, where: str) -> None:
    given = call.argument(1, "percentage")
    for part in given.items if isinstance(given, Items) else [given]:
        value = part.value if isinstance(part, Value) else 0
        if (
            given is None
            or isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 <= value <= 1
        ):
            raise DeclarationError(
                f"F.{call.function} cannot give the percentile {part.text() if part else 'of nothing'}",
                where=where,
                cure=f'give a part of 1, or a list of such: F.{call.function}("amount", [0.5, 0.99])',
            )


def _literal(given: Expression | None, default: float | bool | None, where: str) -> object:  # noqa: FBT001
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
