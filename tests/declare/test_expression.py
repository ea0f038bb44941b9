# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="operator, attr-defined, arg-type, call-overload"

import copy
import pickle
from datetime import date

import pytest

from headrace import DeclarationError, F
from headrace.declare import catalogue
from headrace.declare.expr import Call, Expression, Items, Method, Value, column
from headrace.declare.recorded import captured


def stored(recorded) -> Expression:
    return captured(recorded, "here")


@F.udf("string")
def shout(text):
    """Say it loudly."""
    return text.upper()


@pytest.mark.parametrize(
    ("recorded", "text", "references"),
    [
        (F.col("a") + 1, "a + 1", {"a"}),
        (2 - F.col("a"), "2 - a", {"a"}),
        ((F.col("a") > 1) & ~F.col("b"), "(a > 1) & (~b)", {"a", "b"}),
        (-F.col("a") * F.col("b"), "(-a) * b", {"a", "b"}),
        (F.col("a.b.c") == "x", "a.b.c == 'x'", {"a"}),
        (F.col("`a.b`"), "`a.b`", {"a.b"}),
        (F.col("a").b, "a.b", {"a"}),
        (F.col("m")[F.col("k")], "m[k]", {"m", "k"}),
        (F.when(F.col("a") > 1, "x").otherwise(F.col("y")), "when(a > 1, 'x').otherwise(y)", {"a", "y"}),
        (F.col("a").isin(1, 2), "a.isin(1, 2)", {"a"}),
        (F.col("a").isin(["x", "y"]), "a.isin(['x', 'y'])", {"a"}),
        (F.col("a").between(1, F.col("b")), "a.between(1, b)", {"a", "b"}),
        (F.count("*"), "count(*)", set()),
        (F.sum("amount"), "sum(amount)", {"amount"}),
        (F.avg(col="amount"), "avg(amount)", {"amount"}),
        (F.date_format("at", "yyyy"), "date_format(at, 'yyyy')", {"at"}),
        (F.concat_ws("-", "a", F.col("b")), "concat_ws('-', a, b)", {"a", "b"}),
        (F.struct(["a", "b"]), "struct(['a', 'b'])", {"a", "b"}),
        (F.coalesce("a", F.lit(0)), "coalesce(a, 0)", {"a"}),
        (F.transform("xs", lambda x: x + F.col("a")), "transform(xs, x -> x + a)", {"xs", "a"}),
        (F.expr("a + 1"), "a + 1", None),
        (F.expr("a").cast("int"), "a.cast('int')", None),
        (F.struct("*"), "struct(*)", None),
        (shout("name"), "shout(name)", {"name"}),
        (shout(F.col("a"), "b"), "shout(a, b)", {"a", "b"}),
        (F.lit(date(2026, 1, 1)), "datetime.date(2026, 1, 1)", set()),
    ],
)
def test_an_expression_tells_its_text_and_the_columns_it_reads(recorded, text, references):
    assert stored(recorded).text() == text
    assert stored(recorded).references() == references


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        (F.col("a"), "a"),
        (F.col("a.b"), "b"),
        (F.col("a").b, "b"),
        (F.col("a").getField("b"), "b"),
        ((F.col("a") + 1).alias("c"), "c"),
        (F.col("a").cast("int"), "a"),
        (F.col("a") + 1, None),
        (F.upper("a"), None),
        (F.expr("a AS b"), None),
    ],
)
def test_the_name_of_the_result(recorded, name):
    assert stored(recorded).output_name() == name


def test_stored_expressions_compare_by_structure_and_hash():
    one, other = stored(F.col("a") + F.lit(1)), stored(F.col("a") + F.lit(1))
    assert one == other
    assert hash(one) == hash(other)
    assert one != stored(F.col("a") + F.lit(1.0))
    assert one != stored(F.col("a") - F.lit(1))
    assert stored(F.col("a").isin([1])) == Method(column("a"), "isin", (Items("list", (Value(1),)),))


def test_equality_of_recorded_expressions_is_recorded():
    assert stored(F.col("a") == F.col("b")) == Method(column("a"), "__eq__", (column("b"),))
    assert stored(F.col("a") != None).text() == "a != None"  # noqa: E711


def test_aggregates_are_known_at_any_depth():
    assert stored(F.sum("a")).is_aggregate
    assert stored(F.round(F.sum("a") / 2, 1).cast("int")).is_aggregate
    assert not stored(F.col("a").cast("int")).is_aggregate
    # A function over the elements of one list, in spite of its name.
    assert not stored(F.aggregate("xs", F.lit(0), lambda total, x: total + x)).is_aggregate


def test_nested_lambdas_with_one_name_stay_apart():
    def above(outer):
        return F.filter("ys", lambda x: x > outer)

    nested = stored(F.transform("xs", lambda x: above(x)))  # noqa: PLW0108
    assert isinstance(nested, Call)
    outer = nested.arguments[1]
    inner = next(part for part in outer.walk() if isinstance(part, Call) and part.function == "filter")
    comparison = next(part for part in inner.walk() if isinstance(part, Method))
    assert comparison.subject != comparison.arguments[0]


def test_every_expression_remembers_its_line():
    expression = F.col("a") + 1
    assert stored(expression).where.rsplit(":", 1)[0].endswith("test_expression.py")


@pytest.mark.parametrize(
    ("attempt", "message", "cure"),
    [
        (lambda: bool(F.col("a") > 1), "no truth value", "& for and"),
        (lambda: F.col("a") > 1 and F.col("b") > 1, "no truth value", "& for and"),
        (lambda: 1 < F.col("a") < 5, "no truth value", ".between"),
        (lambda: list(F.col("a")), "looped over", "F.transform"),
        (lambda: 1 in F.col("a"), "`in`", ".isin"),
        (lambda: F.col("a").over("w"), "over", ".key_by"),
        (lambda: F.col("a").is_null(), "no method is_null", "did you mean .isNull"),
        (lambda: F.col("a").upper(), "no method upper", "F.upper(a)"),
        (lambda: (F.col("a") + 1)(2), "cannot be called", ".cast"),
        (lambda: F.amx("a"), "no function amx", "did you mean F.max"),
        (lambda: F.col(1), "F.col takes the name", "F.col("),
        (lambda: F.expr(""), "F.expr takes SQL text", "F.expr("),
        (lambda: F.udf(lambda x: x), "what the function returns", "DDL"),
        (lambda: F.upper(shout), "given, not called", "shout("),
        (lambda: F.udtf(shout), "many rows", "list"),
    ],
)
def test_what_cannot_be_meant_is_refused(attempt, message, cure):
    with pytest.raises(DeclarationError) as refused:
        attempt()
    assert message in refused.value.message
    assert cure in str(refused.value.cure)
    assert "test_expression.py" in str(refused.value.where)


def test_all_ways_to_make_a_udf():
    def double(x):
        return 2 * x

    for made in (
        F.udf(double, "int"),
        F.udf(double, returnType="int"),
        F.udf("int")(double),
        F.udf(returnType="int")(double),
        F.udf(f=double, returnType="int"),
    ):
        (udf,) = stored(made("a")).udfs()
        assert (udf.function, udf.return_type, udf.kind, udf.name) == (double, "int", "udf", "double")
    (udf,) = stored(F.pandas_udf(double, "int")("a")).udfs()
    assert udf.kind == "pandas_udf"
    assert shout.__doc__ == "Say it loudly."
    assert shout.__wrapped__("a") == "A"


def test_protocols_do_not_find_columns_where_they_look_for_methods():
    expression = F.col("a")
    assert not hasattr(expression, "__array__")
    assert stored(copy.deepcopy(expression)) == stored(expression)
    assert stored(pickle.loads(pickle.dumps(expression))) == stored(expression)  # noqa: S301
    assert repr(expression) == "<column a>"
    assert not hasattr(F, "__path__")


def test_the_catalogue_is_read_from_pysparks_source():
    assert catalogue.section("sum") == "Aggregate"
    assert catalogue.section("explode") == "Generator"
    assert catalogue.section("row_number") == "Window"
    assert {"col", "when", "to_timestamp", "sumDistinct"} <= catalogue.functions()
    assert {"cast", "isin", "getField", "alias"} <= catalogue.methods()
    signature = catalogue.parameters("concat_ws")
    assert signature is not None
    assert [(each.name, each.takes_column, each.variadic) for each in signature] == [
        ("sep", False, False),
        ("cols", True, True),
    ]
    assert "col" in dir(F)
