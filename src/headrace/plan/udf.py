"""Python functions over columns, wrapped so that a row for which they raise does not kill its task."""

from collections.abc import Callable
from typing import Any, cast

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType, StructField, StructType, _parse_datatype_string

from headrace.declare.expr import Udf
from headrace.errors import PlanError

_Checked = Callable[[Any], tuple[Any, str | None]]


def registered(udf: Udf) -> Callable[..., Column]:
    """Return the function to be called on Columns.

    A function of single values answers with its value or the text of what it raised; the latter becomes
    ``raise_error`` for that row alone. A value that is not of the declared type counts as raised: Spark
    would fail the whole batch. Functions of pandas Series and Arrow arrays are left as they are.
    """
    options = dict(udf.options)
    returned = _data_type(udf)
    if udf.kind != "udf":
        return cast("Callable[..., Column]", getattr(F, udf.kind)(udf.function, returned, **options))
    outcome = StructType([StructField("value", returned), StructField("error", StringType())])
    options.setdefault("useArrow", True)
    guarded = F.udf(_guarded(udf.function, udf.name, returned), outcome, **options)
    prefix = F.lit(f"Python UDF {udf.name}: ")

    def call(*columns: Any, **named: Any) -> Column:
        answer = guarded(*columns, **named)
        error = answer.getField("error")
        raised = F.raise_error(F.concat(prefix, error))
        return F.when(error.isNull(), answer.getField("value")).otherwise(raised)

    return call


def _data_type(udf: Udf) -> DataType:
    if isinstance(udf.return_type, DataType):
        return udf.return_type
    try:
        return _parse_datatype_string(udf.return_type)
    except Exception as refused:
        raise PlanError(
            f"the function {udf.name} returns {udf.return_type!r}, which is no type",
            where=udf.where or None,
            cure='give DDL text, such as "string", "decimal(12, 2)" or "struct<a: int>"',
        ) from refused


def _guarded(
    function: Callable[..., Any], name: str, returned: DataType
) -> Callable[..., tuple[Any, str | None]]:
    # All of it is nested, so that it is sent to the workers by value: they need no headrace.
    def checks() -> _Checked:
        import pyarrow as pa
        from pyspark.sql.conversion import LocalDataToArrowConversion
        from pyspark.sql.pandas.types import to_arrow_type

        convert = LocalDataToArrowConversion._create_converter(returned, nullable=True)
        target = to_arrow_type(returned, timezone="UTC")

        def check(value: Any) -> tuple[Any, str | None]:
            try:
                converted = convert(value)
                try:
                    pa.array([converted], type=target)
                except pa.ArrowInvalid:
                    # As Spark does, "5" is read as a number where one was promised; but Spark does it
                    # for a batch, and so fails where only some rows need it.
                    return pa.array([converted]).cast(target)[0].as_py(), None
            except Exception:  # noqa: BLE001
                return None, f"returned {value!r}, which is no {returned.simpleString()}"
            return value, None

        return check

    made: list[_Checked] = []

    def run(*arguments: Any, **named: Any) -> tuple[Any, str | None]:
        try:
            value = function(*arguments, **named)
        except Exception as raised:  # noqa: BLE001
            return None, f"{type(raised).__name__}: {raised}"
        if value is None:
            return None, None
        if not made:
            made.append(checks())
        return made[0](value)

    run.__name__ = name
    return run
