"""The kernel's Catalyst expressions, driven from Python over real plans."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

PAYMENT = T.StructType(
    [
        T.StructField("id", T.StringType(), nullable=False),
        T.StructField("at", T.TimestampType()),
        T.StructField("amount", T.DecimalType(12, 2)),
        T.StructField("card", T.StructType([T.StructField("number", T.StringType())])),
        T.StructField("count", T.IntegerType()),
    ]
)
DIVIDED_BY_ZERO = "[DIVIDE_BY_ZERO] Division by zero."


class Kernel:
    """The static methods of the kernel, taking and giving Python's columns."""

    def __init__(self, spark: SparkSession) -> None:
        self.session = spark._jsparkSession
        jvm: Any = spark._jvm
        self.expressions = jvm.headrace.expression.Expressions
        self.rebind = jvm.headrace.expression.Rebind
        self.spark = spark

    def attempt(self, column: Column) -> Column:
        return Column(self.expressions.attempt(column._jc))

    def pack(self, column: Column) -> Column:
        return Column(self.expressions.pack(column._jc))

    def unpack(self, column: Column, schema: T.StructType) -> Column:
        return Column(self.expressions.unpack(column._jc, schema.json()))

    def decode(self, column: Column, schema: T.StructType, **spec: Any) -> Column:
        return Column(self.expressions.decodeJson(column._jc, schema.json(), json.dumps(spec)))

    def analyse(self, schema: T.StructType, *columns: Column) -> Any:
        return self.rebind.analyse(self.session, schema.json(), [c._jc for c in columns])

    def filter(self, schema: T.StructType, condition: Column) -> Any:
        return self.rebind.filter(self.session, schema.json(), condition._jc)

    def transform(self, schema: T.StructType, function: Any) -> Any:
        empty = DataFrame(self.rebind.emptyFrame(self.session, schema.json()), self.spark)
        return self.rebind.transform(self.session, schema.json(), empty._jdf, function(empty)._jdf)


@pytest.fixture
def kernel(spark: SparkSession) -> Kernel:
    return Kernel(spark)


@pytest.fixture(params=["whole stage", "by operator", "interpreted"])
def execution(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """Spark's three ways to evaluate an expression."""
    whole = "spark.sql.codegen.wholeStage"
    factory = "spark.sql.codegen.factoryMode"
    fallback = "spark.sql.codegen.fallback"
    spark.conf.set(whole, str(request.param == "whole stage").lower())
    spark.conf.set(factory, "NO_CODEGEN" if request.param == "interpreted" else "CODEGEN_ONLY")
    spark.conf.set(fallback, "false")
    yield request.param
    for name in (whole, factory, fallback):
        spark.conf.unset(name)


@pytest.fixture
def numbers(spark: SparkSession) -> DataFrame:
    """n and d = n - 3, in two partitions, kept from being folded into a local relation."""
    return spark.range(0, 6, 1, 2).selectExpr("id AS n", "id - 3 AS d", "cast(id AS string) AS s")


def run(frame: DataFrame) -> list[T.Row]:
    return sorted(frame.collect(), key=lambda row: row[0])


def messages(spark: SparkSession, *texts: str | None) -> DataFrame:
    rows = [(i, None if t is None else bytearray(t.encode())) for i, t in enumerate(texts)]
    return spark.createDataFrame(rows, "i int, m binary").repartition(1)


# --- attempt -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("execution")
def test_a_value_or_the_reason_why_not(kernel: Kernel, numbers: DataFrame) -> None:
    rows = run(numbers.select("n", kernel.attempt(F.lit(6) / F.col("d")).alias("a")))
    assert [row.a.value for row in rows] == [-2.0, -3.0, -6.0, None, 6.0, 3.0]
    assert [row.a.error is None for row in rows] == [True, True, True, False, True, True]
    assert rows[3].a.error.startswith(DIVIDED_BY_ZERO)
    assert "\n" not in rows[3].a.error


@pytest.mark.usefixtures("execution")
def test_two_attempts_over_one_raising_expression_both_report(kernel: Kernel, numbers: DataFrame) -> None:
    shared = F.lit(6) / F.col("d")
    rows = run(
        numbers.select(
            "n",
            kernel.attempt(shared).alias("a"),
            kernel.attempt(shared + 1).alias("b"),
            kernel.attempt(shared * F.length("s")).alias("c"),
        )
    )
    assert all(rows[3][name].error.startswith(DIVIDED_BY_ZERO) for name in "abc")
    assert (rows[4].a.value, rows[4].b.value, rows[4].c.value) == (6.0, 7.0, 6.0)


@pytest.mark.usefixtures("execution")
def test_through_projections_and_filters(kernel: Kernel, numbers: DataFrame) -> None:
    attempted = numbers.select("n", "s", "d", kernel.attempt(F.lit(6) / F.col("d")).alias("a"))
    rows = run(
        attempted.filter("a.error IS NOT NULL OR a.value > 0").select(
            "n",
            F.col("a.value").alias("value"),
            (F.col("a.value") * 2).alias("twice"),
            F.col("a.error").alias("error"),
            F.concat("s", F.coalesce("a.error", F.lit("-"))).alias("both"),
            "d",
        )
    )
    assert [(r.n, r.value, r.twice, r.d) for r in rows] == [
        (3, None, None, 0),
        (4, 6.0, 12.0, 1),
        (5, 3.0, 6.0, 2),
    ]
    assert rows[0].both == "3" + rows[0].error
    assert rows[1].both == "4-"


@pytest.mark.usefixtures("execution")
def test_through_a_join_and_an_aggregate(kernel: Kernel, numbers: DataFrame) -> None:
    left = numbers.select("n", kernel.attempt(F.lit(6) / F.col("d")).alias("a"))
    joined = left.join(F.broadcast(numbers.select("n", "d")), "n").select(
        "n", "a", kernel.attempt(F.col("a.value") / F.col("d")).alias("b")
    )
    counted = joined.groupBy(F.col("a.error").isNull().alias("fine")).agg(
        F.count("*").alias("rows"), F.max("b.value").alias("most")
    )
    assert {tuple(row) for row in counted.collect()} == {(True, 5, 6.0), (False, 1, None)}


RAISING = {
    "1 / 0": "[DIVIDE_BY_ZERO]",
    "cast('abc' AS int)": "[CAST_INVALID_INPUT]",
    "9223372036854775807 + 1": "[ARITHMETIC_OVERFLOW]",
    "cast(300 AS tinyint)": "[CAST_OVERFLOW]",
    "raise_error('no such thing')": "[USER_RAISED_EXCEPTION] no such thing",
    "array(1)[5]": "[INVALID_ARRAY_INDEX]",
    "to_timestamp('no time')": "[CAST_INVALID_INPUT]",
    "cast(12345.678 AS decimal(4,2))": "[NUMERIC_VALUE_OUT_OF_RANGE",
}


@pytest.mark.usefixtures("execution")
def test_what_raises_on_literals_is_not_computed_ahead(kernel: Kernel, numbers: DataFrame) -> None:
    whole = [kernel.attempt(F.expr(raising)).alias(raising) for raising in RAISING]
    parts = [kernel.attempt(F.expr(raising)).error.alias(f"{raising}!") for raising in RAISING]
    rows = run(numbers.select("n", *whole, *parts))
    assert len(rows) == 6
    for row in rows:
        for raising, condition in RAISING.items():
            assert row[raising].value is None
            assert row[raising].error.startswith(condition)
            assert row[f"{raising}!"] == row[raising].error


@pytest.mark.usefixtures("execution")
def test_every_type_comes_back(kernel: Kernel, numbers: DataFrame) -> None:
    values = {
        "boolean": "n > 2",
        "byte": "cast(n AS byte)",
        "short": "cast(n AS short)",
        "int": "cast(n AS int)",
        "float": "cast(n AS float)",
        "decimal": "cast(n AS decimal(30,5))",
        "text": "s",
        "binary": "cast(s AS binary)",
        "date": "date_add(date'2026-01-01', cast(n AS int))",
        "timestamp": "timestamp_seconds(n)",
        "array": "array(n, null, d)",
        "map": "map(s, d)",
        "struct": "named_struct('x', n, 'y', named_struct('z', s))",
        "null": "if(n = 2, null, n)",
    }
    plain = run(numbers.selectExpr("n", *[f"{v} AS {k}" for k, v in values.items()]))
    tried = numbers.select("n", *[kernel.attempt(F.expr(v)).alias(k) for k, v in values.items()])
    for expected, row in zip(plain, run(tried), strict=True):
        assert {k: row[k].value for k in values} == {k: expected[k] for k in values}
        assert all(row[k].error is None for k in values)


@pytest.mark.usefixtures("execution")
def test_inside_a_condition(kernel: Kernel, numbers: DataFrame) -> None:
    alive = F.col("n") != 1
    attempted = F.when(alive, kernel.attempt(F.lit(6) / F.col("d")))
    rows = run(numbers.select("n", attempted.alias("a"), attempted.value.alias("v")))
    assert rows[1].a is None
    assert rows[3].a.error.startswith(DIVIDED_BY_ZERO)
    assert [row.v for row in rows] == [-2.0, None, -6.0, None, 6.0, 3.0]


@pytest.mark.usefixtures("execution")
def test_attempts_within_attempts(kernel: Kernel, numbers: DataFrame) -> None:
    inner = kernel.attempt(F.lit(6) / F.col("d"))
    outer = kernel.attempt(F.coalesce(inner.value, F.raise_error(F.lit("gone"))))
    rows = run(numbers.select("n", outer.alias("a")))
    assert rows[3].a.error.startswith("[USER_RAISED_EXCEPTION] gone")
    assert rows[4].a.value == 6.0


@pytest.mark.usefixtures("execution")
def test_what_is_not_deterministic(kernel: Kernel, numbers: DataFrame) -> None:
    rows = run(
        numbers.select(
            "n", kernel.attempt(F.rand(7)).alias("a"), kernel.attempt(F.lit(1) / F.rand(8)).alias("b")
        )
    )
    values = {row.a.value for row in rows}
    assert len(values) == 6
    assert all(0 <= value < 1 for value in values)
    assert all(row.b.error is None for row in rows)


@pytest.mark.usefixtures("execution")
def test_long_reasons_are_cut(kernel: Kernel, numbers: DataFrame) -> None:
    long = F.raise_error(F.concat(F.lit("x" * 2000), F.col("s")))
    rows = run(numbers.select("n", kernel.attempt(long).error.alias("e")))
    assert all(len(row.e) == 500 and row.e.endswith("…") for row in rows)


def test_python_functions(kernel: Kernel, numbers: DataFrame) -> None:
    twice = F.udf(lambda n: n * 2, "bigint", useArrow=False)
    rows = run(
        numbers.select(
            "n",
            kernel.attempt(twice("n")).alias("a"),
            kernel.attempt(F.lit(6) / twice("d")).alias("b"),
        )
    )
    assert [row.a.value for row in rows] == [0, 2, 4, 6, 8, 10]
    assert rows[3].b.error.startswith(DIVIDED_BY_ZERO)


def test_whole_stages_stay_whole(kernel: Kernel, numbers: DataFrame, spark: SparkSession) -> None:
    attempted = numbers.select("n", kernel.attempt(F.lit(6) / F.col("d")).alias("a"))
    kept = attempted.filter("a.error IS NULL").select(kernel.pack(F.struct("n", "a")).alias("p"))
    plan = kept._jdf.queryExecution().executedPlan().toString()
    assert plan.count("*(1)") == len([line for line in plan.splitlines() if line.strip()])
    assert plan.count("attempt(") == 1, "the filter on the error must not evaluate the child again"


# --- pack, unpack ------------------------------------------------------------------------------

NESTED = "named_struct('n', n, 's', s, 'deep', named_struct('d', d, 'a', array(s, s), 'none', null))"


@pytest.mark.usefixtures("execution")
def test_what_was_packed_is_unpacked(kernel: Kernel, numbers: DataFrame) -> None:
    frame = numbers.select("n", F.expr(NESTED).alias("x"))
    schema = frame.select("x.*").schema
    packed = frame.select("n", "x", kernel.pack(F.col("x")).alias("p")).repartition(3)
    unpacked = packed.select("n", "x", kernel.unpack(F.col("p"), schema).alias("u"))
    rows = run(unpacked.select("n", "x", "u", "u.deep.d", "u.deep", "u.s"))
    assert len(rows) == 6
    assert all(row.x == row.u for row in rows)
    assert [(row.d, row.s, row.deep.a) for row in rows] == [(n - 3, str(n), [str(n)] * 2) for n in range(6)]


@pytest.mark.usefixtures("execution")
def test_null_stays_null(kernel: Kernel, numbers: DataFrame) -> None:
    maybe = F.when(F.col("n") > 2, F.struct("n", "s"))
    frame = numbers.select("n", kernel.pack(maybe).alias("p"))
    schema = numbers.select("n", "s").schema
    rows = run(frame.select("n", "p", kernel.unpack(F.col("p"), schema).alias("u")))
    assert [row.p is None for row in rows] == [True] * 3 + [False] * 3
    assert [row.u for row in rows] == [None] * 3 + [(3, "3"), (4, "4"), (5, "5")]


@pytest.mark.usefixtures("execution")
def test_packed_rows_do_not_share_bytes(kernel: Kernel, numbers: DataFrame) -> None:
    schema = numbers.select("n", "d").schema
    one = numbers.coalesce(1).select(kernel.pack(F.struct("n", "d")).alias("p"))
    kept = one.agg(F.collect_list("p").alias("all")).select(F.explode("all").alias("p"))
    rows = run(kept.select(kernel.unpack(F.col("p"), schema).alias("u")).select("u.n", "u.d"))
    assert [tuple(row) for row in rows] == [(n, n - 3) for n in range(6)]


def test_packing_wants_a_struct_and_unpacking_bytes(kernel: Kernel, numbers: DataFrame) -> None:
    with pytest.raises(AnalysisException, match="pack takes a struct"):
        numbers.select(kernel.pack(F.col("n")))
    with pytest.raises(AnalysisException, match="unpack takes binary"):
        numbers.select(kernel.unpack(F.col("n"), numbers.schema))


# --- decode ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("execution")
def test_messages_become_rows_or_reasons(kernel: Kernel, spark: SparkSession) -> None:
    fine = '{"id":"a","at":"2026-01-01T00:00:00Z","amount":"12.30","card":{"number":"1"},"count":7}'
    frame = messages(
        spark,
        fine,
        '{"id":"b","at":"2190-01-01T00:00:00Z"}',
        '{"id":"c"}',
        '{"at":"2026-01-01T00:00:00Z"}',
        "{",
        None,
    )
    decoded = kernel.decode(F.col("m"), PAYMENT, time="at", ahead_micros=600_000_000)
    rows = run(frame.select("i", decoded.alias("r")).select("i", "r.value", "r.value.id", "r.error"))
    assert rows[0].value.asDict(recursive=True) == {
        "id": "a",
        "at": rows[0].value.at,
        "amount": Decimal("12.30"),
        "card": {"number": "1"},
        "count": 7,
    }
    assert [row.error for row in rows][2:] == [
        "event time at: missing",
        "field id: missing",
        "not JSON: ends too early, at byte 1",
        "null value (tombstone)",
    ]
    assert rows[1].error.startswith("event time 2190-01-01T00:00:00Z is ")
    assert rows[1].error.endswith(" years ahead of the clock (limit 10 minutes)")
    assert all(row.value is None and row.id is None for row in rows[1:])


def test_decoding_stays_in_its_stage_and_happens_once(kernel: Kernel, spark: SparkSession) -> None:
    frame = messages(spark, '{"id":"a"}').select(kernel.decode(F.col("m"), PAYMENT).alias("r"))
    plan = frame.filter("r.error IS NULL").select("r.value.id", "r.value.amount")
    text = plan._jdf.queryExecution().executedPlan().toString()
    assert text.count("decodejson(") == 1
    assert plan.collect() == [("a", None)]


def test_a_wrong_spec_is_refused(kernel: Kernel) -> None:
    for spec, reason in [
        ({"time": "id"}, "event time id is not a timestamp but a string"),
        ({"time": "when"}, "event time when is not a field of the message"),
        ({"tiem": "at"}, "unknown entry: tiem"),
    ]:
        with pytest.raises(Exception, match=reason):
            kernel.decode(F.col("m"), PAYMENT, **spec)


# --- rebind ------------------------------------------------------------------------------------


def structs(spark: SparkSession) -> DataFrame:
    rows = [
        (1, ("a", None, Decimal("1.50"), ("4111",), 2)),
        (2, ("b", None, None, None, 0)),
    ]
    schema = T.StructType([T.StructField("i", T.IntegerType()), T.StructField("n0", PAYMENT)])
    return spark.createDataFrame(rows, schema)


def over(projection: Any, struct: Column) -> list[Column]:
    columns = projection.over(struct._jc)
    return [Column(c).alias(name) for c, name in zip(columns, projection.names(), strict=True)]


@pytest.mark.parametrize("struct", ["resolved", "by name"])
def test_columns_move_onto_a_struct(kernel: Kernel, spark: SparkSession, struct: str) -> None:
    frame = structs(spark)
    projection = kernel.analyse(
        PAYMENT,
        F.col("id"),
        F.upper("id").alias("up"),
        (F.col("amount") * 2).alias("twice"),
        F.col("card.number"),
        F.coalesce("amount", F.lit(0)).alias("known"),
        F.nvl(F.col("card.number"), F.lit("-")).alias("nvl"),
        F.transform(F.array("id"), lambda x: F.concat(x, F.col("id"))).alias("lambda"),
        F.to_date(F.lit("2026-01-31")).alias("day"),
        F.udf(lambda n: n + 1, "int", useArrow=False)("count").alias("udf"),
    )
    row = frame["n0"] if struct == "resolved" else F.col("n0")
    rows = run(frame.select("i", *over(projection, row)))
    assert [tuple(row)[1:4] for row in rows] == [
        ("a", "A", Decimal("3.00")),
        ("b", "B", None),
    ]
    assert [(r.number, r.nvl, r["lambda"], r.udf) for r in rows] == [
        ("4111", "4111", ["aa"], 3),
        (None, "-", ["bb"], 1),
    ]
    schema = T.StructType.fromJson(json.loads(projection.schemaJson()))
    assert isinstance(schema["twice"].dataType, T.DecimalType)
    assert schema.names == [*projection.names()]
    assert rows[0].day.isoformat() == "2026-01-31"


def test_what_may_fail(kernel: Kernel) -> None:
    columns = {
        "field": (F.col("id"), False),
        "nested": (F.col("card.number"), False),
        "literal": (F.lit(1), False),
        "compared": ((F.col("count") > 3) & F.col("id").isNotNull(), False),
        "widened": (F.col("count").cast("bigint"), False),
        "narrowed": (F.col("count").cast("tinyint"), True),
        "divided": (F.lit(1) / F.col("count"), True),
        "compares a risk": ((F.lit(1) / F.col("count")) > 3, True),
        "function": (F.udf(lambda n: n, "int", useArrow=False)("count"), True),
        "attempted": (kernel.attempt(F.lit(1) / F.col("count")), False),
    }
    projection = kernel.analyse(PAYMENT, *[c.alias(name) for name, (c, _) in columns.items()])
    found = {name: projection.mayFail(i) for i, name in enumerate(columns)}
    assert found == {name: risk for name, (_, risk) in columns.items()}


def test_a_filter_moves_onto_a_struct(kernel: Kernel, spark: SparkSession) -> None:
    kept = kernel.filter(PAYMENT, F.lit(4) / F.col("count") > 1)
    assert kept.conditionMayFail()
    attempted = kernel.attempt(Column(kept.condition(F.col("n0")._jc)))
    rows = run(structs(spark).select("i", attempted.alias("a")))
    assert rows[0].a.value is True
    assert rows[1].a.error.startswith(DIVIDED_BY_ZERO)
    assert T.StructType.fromJson(json.loads(kept.schemaJson())) == PAYMENT


def test_a_filter_is_boolean(kernel: Kernel) -> None:
    with pytest.raises(AnalysisException, match="FILTER_NOT_BOOLEAN"):
        kernel.filter(PAYMENT, F.col("count") + 1)


def test_sparks_own_errors_pass_through(kernel: Kernel) -> None:
    with pytest.raises(AnalysisException, match=r"UNRESOLVED_COLUMN.*amuont.*amount"):
        kernel.analyse(PAYMENT, F.col("amuont"))


@pytest.mark.parametrize(
    ("column", "named"),
    [
        ("sum(count)", "Aggregate"),
        ("explode(array(id))", "Generate"),
    ],
)
def test_only_one_row_at_a_time(kernel: Kernel, column: str, named: str) -> None:
    with pytest.raises(Exception, match=f"only columns and filters of one row.*{named}"):
        kernel.analyse(PAYMENT, F.expr(column))


def test_no_windows_and_no_subqueries(kernel: Kernel) -> None:
    numbered = F.row_number().over(Window.orderBy("id"))
    with pytest.raises(Exception, match=r"only columns and filters of one row.*Window"):
        kernel.analyse(PAYMENT, numbered)
    with pytest.raises(Exception, match="a subquery is not possible"):
        kernel.analyse(PAYMENT, F.expr("(SELECT 1)"))


def test_names_are_unique(kernel: Kernel) -> None:
    with pytest.raises(Exception, match="two columns are named ID"):
        kernel.analyse(PAYMENT, F.col("id"), F.lit(1).alias("ID"))


def test_a_function_of_frames(kernel: Kernel, spark: SparkSession) -> None:
    plus = F.udf(lambda n: n + 1, "int", useArrow=False)

    def function(frame: DataFrame) -> DataFrame:
        return (
            frame.filter("count >= 0")
            .withColumn("half", F.lit(1) / F.col("count"))
            .alias("x")
            .withColumn("double", F.col("x.half") * 2 + F.col("half"))
            .where(F.col("double") > 0)
            .withColumn("plus", plus("count"))
            .drop("at", "card", "amount")
            .withColumnRenamed("id", "key")
        )

    result = kernel.transform(PAYMENT, function)
    assert [*result.names()] == ["key", "count", "half", "double", "plus"]
    row = F.struct(*over(result, F.col("n0")))
    kept = kernel.attempt(Column(result.condition(F.col("n0")._jc)))
    frame = structs(spark).select("i", "n0", kept.alias("kept"))
    rows = run(frame.select("i", "kept", F.when(F.col("kept.value"), row).alias("row")))
    assert rows[0].row == ("a", 2, 0.5, 1.5, 3)
    assert rows[1].kept.error.startswith(DIVIDED_BY_ZERO)
    assert rows[1].row is None


def test_arguments_of_python_functions_raise_within_their_row(kernel: Kernel, spark: SparkSession) -> None:
    known = F.udf(lambda x: "none" if x is None else str(x), "string", useArrow=False)
    louder = F.udf(lambda x: x + "!", "string", useArrow=False)
    projection = kernel.analyse(
        PAYMENT, louder(known(F.lit(4) / F.col("count"))).alias("a"), louder("id").alias("b")
    )
    first, second = over(projection, F.col("n0"))
    attempted = [kernel.attempt(first).alias("a"), kernel.attempt(second).alias("b")]
    rows = run(structs(spark).select("i", *attempted))
    assert rows[0].a.value == "2.0!"
    assert rows[1].a.error.startswith(DIVIDED_BY_ZERO)
    assert [row.b.value for row in rows] == ["a!", "b!"]


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda f: f.groupBy("id").count(), "Aggregate"),
        (lambda f: f.dropDuplicates(["id"]), "Deduplicate"),
        (lambda f: f.join(f.select("id"), "id"), "Join"),
        (lambda f: f.orderBy("id"), "Sort"),
        (lambda f: f.limit(1), "GlobalLimit"),
        (lambda f: f.union(f), "Union"),
        (lambda f: f.sparkSession.range(1), "does not come from the DataFrame"),
        (lambda f: f.withColumn("r", F.rand()).filter("r > 0.5"), "r is not deterministic"),
    ],
)
def test_a_function_of_frames_stays_with_its_rows(kernel: Kernel, function: Any, named: str) -> None:
    with pytest.raises(Exception, match=named):
        kernel.transform(PAYMENT, function)
