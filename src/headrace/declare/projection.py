"""From what a user writes in a verb to checked, stored expressions."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.declare import catalogue
from headrace.declare.datatype import Nested
from headrace.declare.earlier import looks
from headrace.declare.expr import Attribute, Call, Expression, Given, Value, column
from headrace.declare.node import Port, Projection
from headrace.declare.recorded import Recorded, captured
from headrace.declare.suggestion import did_you_mean
from headrace.errors import DeclarationError

if TYPE_CHECKING:
    from pyspark.sql import Column

    ColumnOrName = Column | str
else:
    ColumnOrName = object

_MANY_ROWS = (
    "a step makes one row of one row: keep the array as a column, and work on it with F.transform, F.filter "
    "or F.aggregate; or write one message per element into the topic"
)


def condition(value: Any, port: Port, where: str) -> Expression:
    """Return the checked expression of a condition; a string is SQL text."""
    if isinstance(value, str):
        if not value.strip():
            raise DeclarationError(
                "the condition is empty", where=where, cure='write for example "amount > 5"'
            )
        return Call("expr", (Value(value),), where=where)
    if isinstance(value, bool):
        raise DeclarationError(
            f"the condition is {value}, for every row",
            where=where,
            cure='write an expression, such as F.col("amount") > 5; and use & | ~ for and, or, not',
        )
    return row_expression(value, port, where)


def projections(
    values: Iterable[Any], named: Mapping[str, Any], port: Port, where: str
) -> tuple[Projection, ...]:
    """Return the checked columns of a select: a string names a column, ``"*"`` all of them."""
    made: list[Projection] = []
    for value in values:
        if isinstance(value, str) and value == "*":
            made += [Projection(name, column(name, where)) for name in _all(port, where)]
            continue
        expression = row_expression(value, port, where)
        name = expression.output_name()
        if name is None:
            raise DeclarationError(
                f"the expression {expression.text()} has no name",
                where=where,
                cure='put .alias("...") on it, or write it as name=expression',
            )
        made.append(Projection(name, expression))
    made += [Projection(name, row_expression(value, port, where)) for name, value in named.items()]
    _check_names([projection.name for projection in made], where)
    return tuple(made)


def row_expression(value: Any, port: Port, where: str) -> Expression:
    """Return the checked expression of a column made from one row; a string names a column."""
    if isinstance(value, str):
        expression: Expression = column(value, where)
    else:
        expression = captured(value, where)
        if not isinstance(value, Recorded) and not isinstance(expression, Given | Call):
            raise DeclarationError(
                f"{value!r} is no column expression",
                where=where,
                cure=f"write F.lit({value!r}) for a constant" if isinstance(expression, Value) else "use F",
            )
    check_row_expression(expression, port, where)
    return expression


def check_row_expression(expression: Expression, port: Port, where: str, *, in_pattern: bool = False) -> None:
    """Refuse what is not computed from one row, and columns that the row does not have."""
    look = None if in_pattern else next(looks(expression), None)
    if look is not None:
        raise DeclarationError(
            f"{look.text()} is of an event that a pattern has taken, and here is none",
            where=look.where or where,
            cure='write it in a condition of a pattern: Pattern.begin("a").next("b").where(...)',
        )
    _check_functions(expression, where)
    check_columns(expression, port, where)


def check_columns(expression: Expression, port: Port, where: str) -> None:
    """Refuse columns that the port does not have, and fields that its structs do not have."""
    known, paths = port.columns, expression.paths()
    if known is None or paths is None:
        return
    for path in sorted(paths):
        root, *rest = path
        if root not in known:
            raise DeclarationError(
                f'{port.text()} has no column "{root}"',
                where=where,
                cure=did_you_mean(root, known, what="columns"),
            )
        found = port.column_type(root)
        for name in rest:
            if not isinstance(found, Nested):
                break
            field = found.field(name)
            if field is None:
                fields = [each.name for each in found.fields]
                raise DeclarationError(
                    f'the column "{root}" of {port.text()} has no field "{name}"',
                    where=where,
                    cure=did_you_mean(name, fields, what="fields"),
                )
            found = field.type


def check_expression(expression: Expression, where: str) -> None:
    """Refuse what can stand in no expression of a stream, aggregates aside."""
    for part in expression.walk():
        if isinstance(part, Attribute) and part.name in catalogue.methods():
            raise DeclarationError(
                f"{part.text()} is a method that is not called",
                where=part.where or where,
                cure=f'write .{part.name}(), or .getField("{part.name}") for a field of that name',
            )
        if not isinstance(part, Call):
            continue
        section = catalogue.section(part.function)
        if section == "Generator":
            raise DeclarationError(
                f"F.{part.function} makes many rows of one", where=part.where or where, cure=_MANY_ROWS
            )
        if section == "Window" or part.function in {"window", "session_window", "window_time"}:
            raise DeclarationError(
                f"F.{part.function} looks at more than one row",
                where=part.where or where,
                cure='use .key_by(...).window("name", Tumbling(...)).agg(...)',
            )


def _check_functions(expression: Expression, where: str) -> None:
    check_expression(expression, where)
    aggregate = next(
        (part for part in expression.walk() if isinstance(part, Call) and part.is_aggregate), None
    )
    if aggregate is not None:
        raise DeclarationError(
            f"{aggregate.text()} is an aggregate; it needs rows that belong together",
            where=aggregate.where or where,
            cure='write it in .key_by(...).window("name", Tumbling(...)).agg(...)',
        )


def _all(port: Port, where: str) -> tuple[str, ...]:
    if port.columns is None:
        raise DeclarationError(
            f'"*" cannot be written out: the columns of {port.text()} are not known yet',
            where=where,
            cure="give columns=[...] to .transform, or use .with_columns(...)",
        )
    return port.columns


def _check_names(names: list[str], where: str) -> None:
    if not names:
        raise DeclarationError("no columns are left", where=where, cure="name at least one")
    seen: dict[str, str] = {}
    for name in names:
        if not name or name.startswith("__"):
            raise DeclarationError(
                f"{name!r} is no name for a column",
                where=where,
                cure="names do not start with two underscores: such are kept for headrace's own",
            )
        if name.lower() in seen:
            raise DeclarationError(
                f'there are two columns "{name}"',
                where=where,
                cure="put another .alias(...) on one of them; Spark does not tell upper from lower case",
            )
        seen[name.lower()] = name
