"""``F``: pyspark.sql.functions, recorded instead of called.

pyspark's own functions ask for a running session; these do not, and become real Columns when the plan is
made. To editors and type checkers ``F`` is the real module.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from headrace.declare import catalogue
from headrace.declare.expr import Call, Udf, Value
from headrace.declare.recorded import Recorded, RecordedUdf, captured_all
from headrace.declare.suggestion import closest
from headrace.errors import DeclarationError, caller

__all__ = ["F", "Functions"]

UdfKind = Literal["udf", "pandas_udf", "arrow_udf"]


class Functions:
    """Records calls of functions by their name."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # Dunder names are asked for by protocols, and pyspark has no function like that.
        if name.startswith("_"):
            raise AttributeError(name)
        known = catalogue.functions()
        if known and name not in known:
            likely = closest(name, known)
            raise DeclarationError(
                f"pyspark.sql.functions has no function {name}",
                where=caller(),
                cure=f"did you mean F.{likely}?" if likely else "see the functions of pyspark.sql.functions",
            )
        if name in {"udtf", "arrow_udtf"}:
            raise DeclarationError(
                f"F.{name} makes many rows of one, which is not available yet",
                where=caller(),
                cure="return a list from a F.udf",
            )

        def record(*arguments: Any, **keywords: Any) -> Recorded:
            where = caller()
            _check_text(name, arguments, keywords, where)
            return Recorded(Call(name, *captured_all(arguments, keywords, where), where=where))

        record.__name__ = record.__qualname__ = name
        return record

    def __dir__(self) -> list[str]:
        return sorted({*catalogue.functions(), "udf", "pandas_udf", "arrow_udf"})

    def __repr__(self) -> str:
        return "<headrace.F, a recorder of pyspark.sql.functions>"

    def udf(self, f: Any = None, returnType: Any = None, **options: Any) -> Any:  # noqa: N803
        """Make a Python function usable on columns: ``@F.udf("string")`` or ``F.udf(f, "string")``.

        A row for which it raises leaves through ``.rejected``. It is taken as deterministic.
        """
        return _udf("udf", f, returnType, options)

    def pandas_udf(self, f: Any = None, returnType: Any = None, **options: Any) -> Any:  # noqa: N803
        """Make a function of pandas Series usable on columns: ``@F.pandas_udf("double")``.

        It sees whole batches, so if it raises, no single row can be blamed: the pipeline stops.
        """
        return _udf("pandas_udf", f, returnType, options)

    def arrow_udf(self, f: Any = None, returnType: Any = None, **options: Any) -> Any:  # noqa: N803
        """Make a function of Arrow arrays usable on columns; if it raises, the pipeline stops."""
        return _udf("arrow_udf", f, returnType, options)


def _udf(kind: UdfKind, f: Any, return_type: Any, options: dict[str, Any]) -> Any:
    where = caller()
    # As in pyspark, the return type may come first: @F.udf("string").
    function, returned = (f, return_type) if callable(f) and not isinstance(f, type) else (None, f)
    if returned is None:
        returned = return_type
    if returned is None:
        raise DeclarationError(
            f"F.{kind} does not say what the function returns",
            where=where,
            cure=f'give the type as DDL text: @F.{kind}("string")',
        )
    kept = tuple(sorted((name, value) for name, value in options.items() if value is not None))

    def made(function: Callable[..., Any]) -> RecordedUdf:
        if not callable(function):
            raise DeclarationError(f"F.{kind} takes a function, not {function!r}", where=where)
        return RecordedUdf(Udf(function, returned, kind, kept, where))

    return made if function is None else made(function)


def _check_text(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], where: str) -> None:
    if name not in {"col", "column", "expr"}:
        return
    given = [*arguments, *keywords.values()]
    if len(given) != 1 or not isinstance(given[0], str) or not given[0].strip():
        what = "SQL text" if name == "expr" else "the name of a column"
        shown = ", ".join(Value(each).text() for each in given)
        raise DeclarationError(
            f"F.{name} takes {what}, not {shown or 'nothing'}",
            where=where,
            cure='write F.expr("amount > 5")' if name == "expr" else 'write F.col("amount")',
        )


if TYPE_CHECKING:
    from pyspark.sql import functions as F
else:
    F = Functions()
