"""Expressions as they are stored: a tree of recorded calls, to be made real Columns by the plan.

::

    Expression
    ├── Call        F.sum("amount")            a function of pyspark.sql.functions
    ├── Method      F.col("a") + 1, .cast(..)  a method or an operator of Column
    ├── Attribute   F.col("a").b               a field of a struct
    ├── UdfCall     country_of("ip")           a Python function over columns
    ├── Lambda      lambda x: x + 1            as given to F.transform and the like, with its Variables
    ├── Given       a Column of pyspark's own  kept as it is
    └── Value, Items                           a Python value, or a list, tuple, set or dict of such

They compare by structure (where they were written aside) and can be hashed if their values can. What
users hold is :class:`headrace.declare.recorded.Recorded`, whose ``==`` records instead.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from headrace.declare import catalogue
from headrace.declare.path import parts


@dataclass(frozen=True, kw_only=True)
class Expression:
    """What all stored expressions can be asked."""

    where: str = field(default="", compare=False, repr=False)

    @property
    def children(self) -> tuple["Expression", ...]:
        """The expressions directly inside this one."""
        return ()

    def walk(self) -> Iterator["Expression"]:
        """Yield this expression and all inside it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def paths(self) -> set[tuple[str, ...]] | None:
        """Return the columns read, each as its path (``("customer", "id")``); None if unknowable."""
        found: set[tuple[str, ...]] = set()
        for child in self.children:
            inner = child.paths()
            if inner is None:
                return None
            found |= inner
        return found

    def references(self) -> set[str] | None:
        """Return the names of the columns read; None if unknowable, as in SQL text or a real Column."""
        paths = self.paths()
        return None if paths is None else {path[0] for path in paths}

    def output_name(self) -> str | None:
        """Return the name that the result carries of itself; None if it needs an alias."""
        return None

    @property
    def is_aggregate(self) -> bool:
        """Whether an aggregate function is called anywhere in it."""
        return any(catalogue.section(name) == "Aggregate" for name in self.functions())

    def functions(self) -> frozenset[str]:
        """Return the names of all functions called in it; those in SQL text are not seen."""
        return frozenset(part.function for part in self.walk() if isinstance(part, Call))

    def udfs(self) -> tuple["Udf", ...]:
        """Return the Python functions called in it."""
        return tuple(part.udf for part in self.walk() if isinstance(part, UdfCall))

    def text(self) -> str:
        """Return the expression as a person would write it, for plans and errors."""
        raise NotImplementedError


@dataclass(frozen=True)
class Value(Expression):
    """A Python value that is not an expression: a number, a string, a date, a DataType."""

    value: Any
    # 1, 1.0 and True are equal in Python and are not the same literal.
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value).__name__)

    def text(self) -> str:
        """Return the value as Python writes it."""
        return repr(self.value)


@dataclass(frozen=True)
class Items(Expression):
    """A list, tuple, set or dict (as pairs) given as an argument."""

    kind: Literal["list", "tuple", "set", "dict"]
    items: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The items."""
        return self.items

    def text(self) -> str:
        """Return the items in brackets."""
        return f"[{', '.join(item.text() for item in self.items)}]"


@dataclass(frozen=True)
class Call(Expression):
    """A call of ``pyspark.sql.functions.<function>``."""

    function: str
    arguments: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()

    @property
    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return (*self.arguments, *(value for _, value in self.keywords))

    def argument(self, position: int, name: str) -> Expression | None:
        """Return an argument, however it was given."""
        if position < len(self.arguments):
            return self.arguments[position]
        return dict(self.keywords).get(name)

    def paths(self) -> set[tuple[str, ...]] | None:
        """Return the columns read, counting strings in places where pyspark takes them for names."""
        if self.function == "expr":
            return None
        if self.function in {"col", "column"}:
            return _named([self.argument(0, "col")])
        if self.function == "count" and self.argument(0, "col") == Value("*"):
            return set()
        inner = super().paths()
        names = self._names()
        named = None if names is None else _named(names)
        return None if inner is None or named is None else inner | named

    def output_name(self) -> str | None:
        """Return the name of a plain column."""
        paths = self.paths() if self.function in {"col", "column"} else None
        return next(iter(paths))[-1] if paths else None

    def text(self) -> str:
        """Return ``sum(amount)``; a column by its name, SQL text as it is."""
        first = self.argument(0, "col")
        if self.function in {"col", "column", "expr"} and isinstance(first, Value):
            return str(first.value)
        if self.function == "lit" and isinstance(first, Value):
            return first.text()
        names = self._names() or []
        inside = [str(part.value) if part in names and isinstance(part, Value) else part.text()
                  for part in self.children]  # fmt: skip
        return f"{self.function}({', '.join(inside)})"

    def _names(self) -> list[Expression] | None:
        """Return the strings among the arguments that name columns; None if that is unknowable."""
        strings = [part for part in self.children if _holds_string(part)]
        if not strings:
            return []
        known = catalogue.parameters(self.function)
        if known is None:
            return None
        by_name = {parameter.name: parameter for parameter in known}
        names: list[Expression] = []
        for position, part in enumerate(self.arguments):
            parameter = known[position] if position < len(known) else (known[-1] if known else None)
            variadic = next((each for each in known[: position + 1] if each.variadic), None)
            if (variadic or parameter) and (variadic or parameter).takes_column:  # type: ignore[union-attr]
                names += _strings(part)
        for name, part in self.keywords:
            if name in by_name and by_name[name].takes_column:
                names += _strings(part)
        return names


@dataclass(frozen=True)
class Method(Expression):
    """A method of Column, operators included (``__add__``), called on an expression."""

    subject: Expression
    method: str
    arguments: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()

    @property
    def children(self) -> tuple[Expression, ...]:
        """The subject and the arguments."""
        return (self.subject, *self.arguments, *(value for _, value in self.keywords))

    def paths(self) -> set[tuple[str, ...]] | None:
        """Return the columns read, following ``.getField("id")`` into a struct."""
        if self.method in {"getField", "__getitem__"} and len(self.arguments) == 1:
            return _field_of(self.subject, self.arguments[0])
        return super().paths()

    def output_name(self) -> str | None:
        """Return the alias, or the field's name, or what a cast keeps."""
        if self.method in {"alias", "name", "getField"}:
            names = [part.value for part in self.arguments if isinstance(part, Value)]
            return names[0] if len(names) == 1 and isinstance(names[0], str) else None
        if self.method in {"cast", "astype", "try_cast"}:
            return self.subject.output_name()
        return None

    def text(self) -> str:
        """Return ``amount + 1`` for operators, ``amount.cast('int')`` for the rest."""
        subject = self.subject.text()
        inside = [part.text() for part in self.children[1:]]
        if self.method == "__getitem__":
            return f"{subject}[{', '.join(inside)}]"
        if self.method in OPERATORS:
            sign, reflected = OPERATORS[self.method]
            if not inside:
                return f"{sign}{_bracketed(self.subject)}"
            left, right = _bracketed(self.subject), _bracketed(self.arguments[0])
            return f"{right} {sign} {left}" if reflected else f"{left} {sign} {right}"
        return f"{_bracketed(self.subject)}.{self.method}({', '.join(inside)})"


@dataclass(frozen=True)
class Attribute(Expression):
    """A field of a struct, as ``F.col("customer").id``."""

    subject: Expression
    name: str

    @property
    def children(self) -> tuple[Expression, ...]:
        """The struct."""
        return (self.subject,)

    def paths(self) -> set[tuple[str, ...]] | None:
        """Return the path of the field."""
        return _field_of(self.subject, Value(self.name))

    def output_name(self) -> str | None:
        """Return the field's name."""
        return self.name

    def text(self) -> str:
        """Return ``customer.id``."""
        return f"{_bracketed(self.subject)}.{self.name}"


@dataclass(frozen=True)
class Udf:
    """A Python function for use on columns, not yet registered with Spark."""

    function: Callable[..., Any]
    # DDL text or a pyspark DataType.
    return_type: Any
    kind: Literal["udf", "pandas_udf", "arrow_udf"]
    options: tuple[tuple[str, Any], ...] = ()
    where: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.function, "__name__", type(self.function).__name__)


@dataclass(frozen=True)
class UdfCall(Expression):
    """A call of a Python function; strings name columns."""

    udf: Udf
    arguments: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()

    @property
    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return (*self.arguments, *(value for _, value in self.keywords))

    def paths(self) -> set[tuple[str, ...]] | None:
        """Return the columns read."""
        inner = super().paths()
        named = _named([part for part in self.children if isinstance(part, Value)])
        return None if inner is None or named is None else inner | named

    def text(self) -> str:
        """Return ``country_of(ip)``."""
        inside = [str(part.value) if isinstance(part, Value) else part.text() for part in self.children]
        return f"{self.udf.name}({', '.join(inside)})"


@dataclass(frozen=True)
class Variable(Expression):
    """A parameter of a Lambda; `depth` tells nested ones of one name apart."""

    name: str
    depth: int

    def text(self) -> str:
        """Return the name."""
        return self.name


@dataclass(frozen=True)
class Lambda(Expression):
    """A function over the elements of a list or map, recorded by calling it once with Variables."""

    parameters: tuple[Variable, ...]
    body: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The body."""
        return (self.body,)

    def text(self) -> str:
        """Return ``x -> x + 1``."""
        return f"{', '.join(parameter.name for parameter in self.parameters)} -> {self.body.text()}"


@dataclass(frozen=True, eq=False)
class Given(Expression):
    """A Column that pyspark made; nothing is known of it before planning."""

    column: Any

    def paths(self) -> set[tuple[str, ...]] | None:
        """Return None: a real Column does not tell."""
        return None

    def text(self) -> str:
        """Return the Column as pyspark shows it."""
        return str(self.column)


OPERATORS: dict[str, tuple[str, bool]] = {
    **{f"__{name}__": (sign, False) for name, sign in
       {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "mod": "%", "pow": "**", "and": "&", "or": "|",
        "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items()},
    **{f"__r{name}__": (sign, True) for name, sign in
       {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "mod": "%", "pow": "**", "and": "&", "or": "|"
        }.items()},
    "__neg__": ("-", False),
    "__invert__": ("~", False),
}  # fmt: skip
"""The operators of Column that are recorded: method -> (sign, operands swapped)."""


def column(name: str, where: str = "") -> Call:
    """Return the expression of a column by its name."""
    return Call("col", (Value(name),), where=where)


def _named(names: Sequence[Expression | None]) -> set[tuple[str, ...]] | None:
    paths = set()
    for name in names:
        if not isinstance(name, Value) or not isinstance(name.value, str):
            return None
        if name.value == "*" or name.value.endswith(".*"):
            return None
        paths.add(parts(name.value))
    return paths


def _field_of(subject: Expression, key: Expression) -> set[tuple[str, ...]] | None:
    paths = subject.paths()
    if paths is None:
        return None
    if isinstance(key, Value):
        plain = isinstance(subject, Attribute) or (isinstance(subject, Call) and subject.function == "col")
        if plain and isinstance(key.value, str) and len(paths) == 1:
            return {(*next(iter(paths)), key.value)}
        return paths
    inner = key.paths()
    return None if inner is None else paths | inner


def _strings(part: Expression) -> list[Expression]:
    if isinstance(part, Items):
        return [item for item in part.items if isinstance(item, Value) and isinstance(item.value, str)]
    return [part] if isinstance(part, Value) and isinstance(part.value, str) else []


def _holds_string(part: Expression) -> bool:
    return bool(_strings(part))


def _bracketed(part: Expression) -> str:
    operator = isinstance(part, Method) and part.method in OPERATORS
    return f"({part.text()})" if operator else part.text()
