"""Stored expressions made into Columns of Spark."""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, cast

from pyspark.sql import Column
from pyspark.sql import functions as F

from headrace.declare.earlier import Earlier
from headrace.declare.expr import (
    Attribute,
    Call,
    Expression,
    Given,
    Items,
    Lambda,
    Method,
    UdfCall,
    Value,
    Variable,
)
from headrace.declare.suggestion import did_you_mean
from headrace.errors import HeadraceError, PlanError
from headrace.plan.udf import registered

_Bindings = Mapping[Any, Column]


def to_column(
    expression: Expression,
    frame_columns: Sequence[str] | None = None,
    where: str | None = None,
    bound: Mapping[Expression, Column] | None = None,
) -> Column:
    """Return the Column that `expression` stands for; a SparkSession must be running.

    `frame_columns` are the columns that it may read, where the declaration did not know them. `where` is
    the user's line where the expression has none of its own. `bound` are the Columns of what only a step can
    know, such as earlier events of a match.

    A Python function that raises does not kill its task: the Column becomes an error for that row, by
    ``raise_error``, as it would from an overflow. Functions of pandas Series and Arrow arrays see whole
    batches, so that no single row could be blamed: what they raise stops the pipeline.
    """
    where = expression.where or where
    _check_columns(expression, frame_columns, where)
    try:
        column = _resolved(expression, bound or {})
    except HeadraceError:
        raise
    except Exception as refused:
        raise PlanError(
            f"Spark does not take {expression.text()}: {refused}",
            where=where,
            cure="see its documentation under pyspark.sql.functions",
        ) from refused
    if not isinstance(column, Column):
        raise PlanError(
            f"{expression.text()} is no column expression",
            where=where,
            cure="write F.lit(...) for a constant",
        )
    return column


def _check_columns(expression: Expression, frame_columns: Sequence[str] | None, where: str | None) -> None:
    references = expression.references()
    if frame_columns is None or references is None:
        return
    for name in sorted(references):
        if name not in frame_columns:
            raise PlanError(
                f'there is no column "{name}"',
                where=where,
                cure=did_you_mean(name, frame_columns, what="columns"),
            )


def _resolved(expression: Expression, bound: _Bindings) -> Any:  # noqa: C901, PLR0911
    match expression:
        case Value():
            return expression.value
        case Given():
            return expression.column
        case Items():
            return _collection(expression, bound)
        case Call():
            function = getattr(F, expression.function, None)
            if function is None:
                raise PlanError(
                    f"pyspark.sql.functions has no function {expression.function}",
                    where=expression.where or None,
                    cure=did_you_mean(expression.function, dir(F), what="functions"),
                )
            return _called(function, expression, bound)
        case Method():
            subject = _resolved(expression.subject, bound)
            return _called(getattr(subject, expression.method), expression, bound)
        case Attribute():
            return _resolved(expression.subject, bound).getField(expression.name)
        case UdfCall():
            return _called(registered(expression.udf), expression, bound)
        case Variable() | Earlier():
            return bound[expression]
        case Lambda():
            return _function(expression, bound)
    raise PlanError(f"{expression.text()} has no place in a column", where=expression.where or None)


def _called(function: Callable[..., Any], call: Call | Method | UdfCall, bound: _Bindings) -> Any:
    arguments = [_resolved(argument, bound) for argument in call.arguments]
    return function(*arguments, **{name: _resolved(value, bound) for name, value in call.keywords})


def _collection(items: Items, bound: _Bindings) -> Any:
    values = [_resolved(item, bound) for item in items.items]
    return {"list": list, "tuple": tuple, "set": set, "dict": dict}[items.kind](values)


def _function(recorded: Lambda, bound: _Bindings) -> Callable[..., Column]:
    def function(*columns: Column) -> Column:
        inner = {**bound, **dict(zip(recorded.parameters, columns, strict=True))}
        return cast("Column", _resolved(recorded.body, inner))

    # pyspark looks at the names and the number of the parameters.
    function.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(variable.name, Parameter.POSITIONAL_OR_KEYWORD) for variable in recorded.parameters]
    )
    return function
