"""Expressions as users hold them: an object that records what is done to it.

It holds nothing but its stored expression, so that ``==`` and attributes are free to be recorded.
"""

import inspect
import sys
from contextvars import ContextVar
from typing import Any, NoReturn

from headrace.declare import catalogue
from headrace.declare.expr import (
    OPERATORS,
    Attribute,
    Expression,
    Given,
    Items,
    Lambda,
    Method,
    Udf,
    UdfCall,
    Value,
    Variable,
)
from headrace.declare.suggestion import closest
from headrace.errors import DeclarationError, caller

_depth: ContextVar[int] = ContextVar("depth of nested lambdas", default=0)


class Recorded:
    """A column expression to be: operators, methods and fields are recorded, like those of a Column."""

    __slots__ = ("_expression",)
    __hash__ = None  # type: ignore[assignment]
    _expression: Expression

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    def __getattr__(self, name: str) -> "Recorded":
        # Protocols (copy, pickle, IPython, typing) look for such names and must not find them.
        if name.startswith("__") or name in {"_repr_html_", "_ipython_display_", "_repr_mimebundle_"}:
            raise AttributeError(name)
        return Recorded(Attribute(self._expression, name, where=caller()))

    def __call__(self, *arguments: Any, **keywords: Any) -> "Recorded":
        """Record a method: what was taken for a field was the method's name."""
        where, attribute = caller(), self._expression
        if not isinstance(attribute, Attribute):
            raise DeclarationError(
                f"{attribute.text()} is a column, it cannot be called",
                where=where,
                cure="call a method of it, such as .cast(...) or .alias(...), or a function of F",
            )
        _check_method(attribute, where)
        return _method(attribute.subject, attribute.name, where, arguments, keywords)

    def __getitem__(self, key: Any) -> "Recorded":
        where = caller()
        if isinstance(key, slice):
            return _method(self._expression, "substr", where, (key.start, key.stop), {})
        return _method(self._expression, "__getitem__", where, (key,), {})

    def __bool__(self) -> NoReturn:
        raise DeclarationError(
            f"the column expression {self._expression.text()} has no truth value: its rows are not here yet",
            where=caller(),
            cure="write & for and, | for or, ~ for not, each side in brackets, and F.when(...) for if; "
            "chained comparisons become .between(...)",
        )

    def __iter__(self) -> NoReturn:
        raise DeclarationError(
            f"the column expression {self._expression.text()} cannot be looped over",
            where=caller(),
            cure="use F.transform, F.filter or F.exists on its elements",
        )

    def __contains__(self, item: object) -> NoReturn:
        raise DeclarationError(
            f"`in` does not work on the column expression {self._expression.text()}",
            where=caller(),
            cure="use .contains(...), F.array_contains(...) or .isin(...)",
        )

    def __repr__(self) -> str:
        return f"<column {self._expression.text()}>"


def _operator(name: str) -> Any:
    def record(self: Recorded, *operands: Any) -> Recorded:
        return _method(self._expression, name, caller(), operands, {})

    record.__name__ = name
    return record


for _name in OPERATORS:
    setattr(Recorded, _name, _operator(_name))


class RecordedUdf:
    """A Python function to be used on columns; calling it records the call."""

    def __init__(self, udf: Udf) -> None:
        self._udf = udf
        self.__name__ = udf.name
        self.__doc__ = udf.function.__doc__
        self.__wrapped__ = udf.function

    def __call__(self, *arguments: Any, **keywords: Any) -> Recorded:
        """Record a call on columns; strings name columns."""
        where = caller()
        captured = captured_all(arguments, keywords, where)
        return Recorded(UdfCall(self._udf, *captured, where=where))

    def __repr__(self) -> str:
        return f"<{self._udf.kind} {self._udf.name}>"


def captured(value: Any, where: str) -> Expression:  # noqa: PLR0911
    """Return the stored expression of anything that a user may give as an argument."""
    if isinstance(value, Recorded):
        return value._expression
    if isinstance(value, Expression):
        return value
    if isinstance(value, RecordedUdf):
        raise DeclarationError(
            f"the function {value.__name__} is given, not called",
            where=where,
            cure=f'call it on columns: {value.__name__}("...")',
        )
    if is_column(value):
        return Given(value, where=where)
    if isinstance(value, list | tuple | set | frozenset):
        kind = "list" if isinstance(value, list) else "tuple" if isinstance(value, tuple) else "set"
        return Items(kind, tuple(captured(item, where) for item in value), where=where)  # type: ignore[arg-type]
    if isinstance(value, dict):
        pairs = (captured(pair, where) for pair in value.items())
        return Items("dict", tuple(pairs), where=where)
    if callable(value) and not isinstance(value, type):
        return _captured_lambda(value, where)
    return Value(value, where=where)


def captured_all(
    arguments: tuple[Any, ...], keywords: dict[str, Any], where: str
) -> tuple[tuple[Expression, ...], tuple[tuple[str, Expression], ...]]:
    """Return the stored expressions of the arguments of a call."""
    return (
        tuple(captured(argument, where) for argument in arguments),
        tuple((name, captured(value, where)) for name, value in keywords.items()),
    )


def is_column(value: object) -> bool:
    """Whether `value` is a Column of pyspark's own, classic or Connect."""
    # If pyspark is not loaded, nobody can have made one.
    module = sys.modules.get("pyspark.sql.column")
    kind = getattr(module, "Column", None)
    return isinstance(kind, type) and isinstance(value, kind)


def _captured_lambda(function: Any, where: str) -> Lambda:
    depth = _depth.get()
    try:
        names = list(inspect.signature(function).parameters)
    except ValueError:
        raise DeclarationError(
            f"the parameters of {function!r} are unknown", where=where, cure="wrap it in a lambda"
        ) from None
    parameters = tuple(Variable(name, depth, where=where) for name in names)
    token = _depth.set(depth + 1)
    try:
        body = function(*(Recorded(parameter) for parameter in parameters))
    finally:
        _depth.reset(token)
    return Lambda(parameters, captured(body, where), where=where)


def _method(
    subject: Expression, name: str, where: str, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Recorded:
    return Recorded(Method(subject, name, *captured_all(arguments, keywords, where), where=where))


def _check_method(attribute: Attribute, where: str) -> None:
    if attribute.name == "over":
        raise DeclarationError(
            f"{attribute.subject.text()}.over(...) looks at rows of a table; a stream has no such rows",
            where=where,
            cure='use .key_by(...).window("name", Tumbling(...)).agg(...)',
        )
    known = catalogue.methods()
    if not known or attribute.name in known:
        return
    if attribute.name in catalogue.functions():
        cure = f"it is a function: F.{attribute.name}({attribute.subject.text()})"
    else:
        likely = closest(attribute.name, known)
        cure = f"did you mean .{likely}(...)?" if likely else "see the methods of pyspark.sql.Column"
    raise DeclarationError(f"a column has no method {attribute.name}", where=where, cure=cure)
