"""The kernel as Python sees it: Columns in, Columns out, over py4j."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors.exceptions.base import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType, StructType

from headrace.errors import HeadraceError, PlanError, SetupError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.declare.node import Node


@dataclass(frozen=True)
class Analysed:
    """Columns as Spark understood them, written against the columns of a row that is a struct."""

    schema: StructType
    _projection: Any
    _failing: tuple[bool, ...]
    python: tuple[str, ...] = ()
    """The Python functions in it."""
    chance: str | None = None
    """The function in it that a replay would give another value; Python functions are taken at their word."""

    def over(self, row: Column) -> list[Column]:
        """Return the columns, read from the struct `row`."""
        return [Column(each) for each in self._projection.over(_java(row))]

    def may_fail(self, position: int | None = None) -> bool:
        """Tell whether one of them, or any, may raise on some row."""
        return any(self._failing) if position is None else self._failing[position]


class Kernel:
    """The JVM side of a session."""

    def __init__(self, spark: SparkSession) -> None:
        """Find the kernel in the session's JVM; without it nothing works, and it says so."""
        self.spark = spark
        jvm: Any = spark._jvm
        self.jvm = jvm
        self._session = spark._jsparkSession
        try:
            jvm.java.lang.Class.forName(
                "headrace.expression.Expressions",
                True,
                jvm.java.lang.Thread.currentThread().getContextClassLoader(),
            )
        except Exception as missing:
            raise SetupError(
                "the Spark session does not have headrace's kernel on its class path",
                cure="start it with headrace.run.session.start, or add headrace's jars to spark.jars",
            ) from missing
        self._expressions = jvm.headrace.expression.Expressions
        self.python: dict[Node, str] = {}
        """The Python functions that Spark found in each step that was analysed, "" for none."""

    def pack(self, row: Column) -> Column:
        """Make a struct the bytes of a row."""
        return Column(self._expressions.pack(_java(row)))

    def unpack(self, payload: Column, schema: StructType) -> Column:
        """Make the bytes of a row its struct again."""
        return Column(self._expressions.unpack(_java(payload), schema.json()))

    def attempt(self, column: Column) -> Column:
        """Evaluate a column into struct<value, error>, so that one row's failure is that row's."""
        return Column(self._expressions.attempt(_java(column)))

    def reads(self, column: Column, names: Sequence[str]) -> bool:
        """Tell whether a column reads any of these."""
        return bool(names) and bool(self._expressions.reads(_java(column), list(names)))

    def decode_json(self, value: Column, schema: StructType, **specification: object) -> Column:
        """Decode JSON bytes into struct<value, error>."""
        return Column(self._expressions.decodeJson(_java(value), schema.json(), json.dumps(specification)))

    def analyse(self, schema: StructType, columns: Sequence[Column], where: str) -> Analysed:
        """Let Spark analyse columns against a schema; what it refuses is an error at the user's line."""
        try:
            projection = self.jvm.headrace.expression.Rebind.analyse(
                self._session, schema.json(), [_java(column) for column in columns]
            )
        except Exception as refused:
            raise refusal(refused, where) from refused
        failing = tuple(bool(projection.mayFail(each)) for each in range(len(columns)))
        return _analysed(projection, failing)

    def sorted(self, column: Column, where: str) -> tuple[Column, str]:
        """Take ``F.desc("amount")`` apart: the column, and its direction as the kernel reads it."""
        try:
            taken = self.jvm.headrace.expression.Sorted.of(_java(column))
        except Exception as refused:
            raise refusal(refused, where) from refused
        return Column(taken.column()), str(taken.direction())

    def sorts(self, kind: DataType) -> bool:
        """Tell whether values of a type can be put into an order."""
        return bool(self.jvm.headrace.expression.Sorted.sorts(kind.json()))

    def evaluable(self, schema: StructType, columns: Sequence[Column], where: str) -> tuple[StructType, str]:
        """Let Spark analyse columns that a step evaluates by itself; return types, and what it is told."""
        try:
            projection = self.jvm.headrace.expression.Rebind.evaluable(
                self._session, schema.json(), [_java(column) for column in columns]
            )
            compiled = projection.compiled()
        except Exception as refused:
            raise refusal(refused, where) from refused
        return StructType.fromJson(json.loads(projection.schemaJson())), str(compiled)

    def transform(self, schema: StructType, function: Any, where: str) -> tuple[Analysed, Any]:
        """Take apart what a user's function makes of an empty frame; second is its condition or None."""
        empty = self.empty(schema)
        try:
            made = function(empty)
        except HeadraceError:
            raise
        except PySparkException as refused:
            raise refusal(refused, where) from refused
        except Exception as raised:
            raise PlanError(
                f"the function given to transform raised {type(raised).__name__}: {raised}",
                where=where,
                cure="it is called once, while planning, with a frame without rows: correct it",
            ) from raised
        if not isinstance(made, DataFrame):
            raise PlanError(
                f"the function given to transform returned {type(made).__name__}, not a DataFrame",
                where=where,
                cure="return the DataFrame that it made",
            )
        try:
            taken = self.jvm.headrace.expression.Rebind.transform(
                self._session, schema.json(), empty._jdf, made._jdf
            )
        except Exception as refused:
            raise refusal(refused, where) from refused
        names = list(taken.names())
        failing = tuple(bool(taken.mayFail(each)) for each in range(len(names)))
        return _analysed(taken, failing), taken

    def empty(self, schema: StructType) -> DataFrame:
        """Return a frame without rows."""
        return self.spark.createDataFrame([], schema)

    def group_numbers(self, program: int, groups: int, partitions: int) -> list[int]:
        """Return numbers for key groups that Spark's hash spreads evenly."""
        return list(self.jvm.headrace.operator.KeyGroups.numbers(program, groups, partitions))


def _analysed(projection: Any, failing: tuple[bool, ...]) -> Analysed:
    schema = StructType.fromJson(json.loads(projection.schemaJson()))
    return Analysed(schema, projection, failing, tuple(projection.python()), projection.chance())


def _java(column: Column) -> Any:
    return column._jc


def refusal(refused: Exception, where: str) -> PlanError:
    """Say Spark's own words, without its stack and without the plan it prints."""
    text = str(getattr(refused, "java_exception", None) or refused)
    for name in ("java.lang.IllegalArgumentException: ", "org.apache.spark.sql.AnalysisException: "):
        text = text.replace(name, "")
    lines = [line for line in text.splitlines() if line.strip()]
    kept = []
    for line in lines:
        if line.lstrip().startswith(("'", "+-", "==", "at ", "JVM stacktrace")):
            break
        kept.append(line.strip())
    return PlanError(" ".join(kept) or text.strip()[:300], where=where)
