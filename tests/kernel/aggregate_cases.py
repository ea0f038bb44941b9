"""Every aggregate of a window: how it is written, how its result is read, how a batch says the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as sql


@dataclass(frozen=True)
class Case:
    """An aggregate: how it is written, what is read from its result, and how a batch says it if otherwise."""

    made: Callable[[Any], Any]
    read: Callable[[Any, Any], Any] = lambda _, column: column
    batch: Callable[[], Column] | None = None
    close: float = 1e-9


def in_order(value: str) -> Callable[[], Column]:
    """What collect_list is when it goes by time."""

    def made() -> Column:
        pairs = sql.array_sort(sql.collect_list(sql.struct("at", sql.col(value).alias("value"))))
        values = sql.transform(pairs, lambda pair: pair["value"])
        return sql.filter(values, lambda each: each.isNotNull())

    return made


def unordered(f: Any, column: Any) -> Any:
    return f.array_sort(column)


def hll(f: Any, column: Any) -> Any:
    return f.hll_sketch_estimate(column)


def theta(f: Any, column: Any) -> Any:
    return f.theta_sketch_estimate(column)


def quantiles(kind: str) -> Callable[[Any, Any], Any]:
    def read(f: Any, column: Any) -> Any:
        quantile = getattr(f, f"kll_sketch_get_quantile_{kind}")
        return f.struct(getattr(f, f"kll_sketch_get_n_{kind}")(column), quantile(column, f.lit(0.5)))

    return read


def tuples(kind: str) -> Callable[[Any, Any], Any]:
    def read(f: Any, column: Any) -> Any:
        estimate = getattr(f, f"tuple_sketch_estimate_{kind}")(column)
        return f.struct(estimate, getattr(f, f"tuple_sketch_summary_{kind}")(column))

    return read


def bins(f: Any, column: Any) -> Any:
    """Where the bins are, and what is in all: joined histograms have bins twice, also in Spark."""
    places = f.array_distinct(f.transform(column, lambda each: each["x"]))
    return f.struct(places, f.aggregate(column, f.lit(0.0), lambda total, each: total + each["y"]))


def sql_only(name: str, column: str, *constants: int) -> Callable[[Any], Any]:
    return lambda f: f.call_function(name, column, *(f.lit(each) for each in constants))


def top(f: Any, column: Any) -> Any:
    return f.array_sort(f.call_function("approx_top_k_estimate", column, f.lit(20)))


def combined(f: Any) -> Any:
    fields = ("sketch", "tracked", "item", "ddl")
    parts = [f.col("top").getField(name) for name in fields]
    parts[1] = parts[1].cast("int")
    return f.call_function("approx_top_k_combine", f.struct(*parts), f.lit(100))


CASES: dict[str, Case] = {
    "rows": Case(lambda f: f.count("*")),
    "count": Case(lambda f: f.count("number")),
    "sum": Case(lambda f: f.sum("number")),
    "sum_of_floats": Case(lambda f: f.sum("real")),
    "sum_of_decimals": Case(lambda f: f.sum("price")),
    "sum_of_wide": Case(lambda f: f.sum("wide")),
    "avg": Case(lambda f: f.avg("price")),
    "mean": Case(lambda f: f.mean("number")),
    "min": Case(lambda f: f.min("word")),
    "max": Case(lambda f: f.max("day")),
    "first": Case(lambda f: f.first("word"), batch=lambda: sql.min_by("word", "at")),
    "last": Case(
        lambda f: f.last("number", ignorenulls=True),
        batch=lambda: sql.max_by("number", sql.when(sql.col("number").isNotNull(), sql.col("at"))),
    ),
    "any_value": Case(
        lambda f: f.any_value("tags", True),
        batch=lambda: sql.min_by("tags", sql.when(sql.col("tags").isNotNull(), sql.col("at"))),
    ),
    "min_by": Case(lambda f: f.min_by("word", "id")),
    "max_by": Case(lambda f: f.max_by(f.struct("word", "price"), f.struct("day", "at"))),
    "max_by_ties": Case(
        lambda f: f.max_by("id", "day"),
        batch=lambda: sql.min_by(
            "id", sql.when(sql.col("day").isNotNull(), sql.struct(-sql.unix_date("day"), "at"))
        ),
    ),
    "bool_and": Case(lambda f: f.bool_and("flag")),
    "every": Case(lambda f: f.every(f.col("number") > -900)),
    "bool_or": Case(lambda f: f.bool_or("flag")),
    "some": Case(lambda f: f.some(f.col("number") > 900)),
    "stddev": Case(lambda f: f.stddev("real")),
    "std": Case(lambda f: f.std("number")),
    "stddev_samp": Case(lambda f: f.stddev_samp("price")),
    "stddev_pop": Case(lambda f: f.stddev_pop("wide")),
    "variance": Case(lambda f: f.variance("price")),
    "var_samp": Case(lambda f: f.var_samp("number")),
    "var_pop": Case(lambda f: f.var_pop(f.col("real") + 1e9), close=1e-5),
    "count_distinct": Case(lambda f: f.count_distinct("word")),
    "count_distinct_of_floats": Case(lambda f: f.countDistinct("real")),
    "count_distinct_of_several": Case(lambda f: f.count_distinct("word", "flag", "day")),
    "count_distinct_of_lists": Case(lambda f: f.count_distinct("tags")),
    "collect_list": Case(lambda f: f.collect_list("number"), batch=in_order("number")),
    "collect_list_of_lists": Case(lambda f: f.array_agg("tags"), batch=in_order("tags")),
    "collect_list_of_wide": Case(lambda f: f.collect_list("wide"), batch=in_order("wide")),
    "collect_set": Case(lambda f: f.collect_set("word"), unordered),
    "collect_set_of_floats": Case(lambda f: f.collect_set("real"), unordered),
    "approx_count_distinct": Case(lambda f: f.approx_count_distinct("word", 0.02)),
    "percentile_approx": Case(lambda f: f.percentile_approx("price", [0.1, 0.5, 0.99], 1000)),
    "approx_percentile": Case(lambda f: f.approx_percentile("day", 0.5)),
    "histogram_numeric": Case(lambda f: f.histogram_numeric("number", f.lit(1000)), bins),
    "count_min_sketch": Case(lambda f: f.count_min_sketch("word", 0.1, 0.9, 42)),
    "hll_sketch_agg": Case(lambda f: f.hll_sketch_agg("word", 10), hll),
    "hll_of_numbers": Case(lambda f: f.hll_sketch_agg("number"), hll),
    "hll_union_agg": Case(lambda f: f.hll_union_agg("hll", True), hll),
    "theta_sketch_agg": Case(lambda f: f.theta_sketch_agg("word"), theta),
    "theta_union_agg": Case(lambda f: f.theta_union_agg("theta", 10), theta),
    "theta_intersection_agg": Case(lambda f: f.theta_intersection_agg("theta"), theta),
    "tuple_sketch_agg_double": Case(lambda f: f.tuple_sketch_agg_double("word", "real"), tuples("double")),
    "tuple_sketch_agg_integer": Case(
        lambda f: f.tuple_sketch_agg_integer("word", f.col("number").cast("int"), 10, "max"),
        tuples("integer"),
    ),
    "tuple_union_agg_double": Case(lambda f: f.tuple_union_agg_double("tuples"), tuples("double")),
    "tuple_union_agg_integer": Case(lambda f: f.tuple_union_agg_integer("counts"), tuples("integer")),
    "kll_sketch_agg_bigint": Case(lambda f: f.kll_sketch_agg_bigint("number"), quantiles("bigint")),
    "kll_sketch_agg_float": Case(
        lambda f: f.kll_sketch_agg_float(f.col("real").cast("float"), 200), quantiles("float")
    ),
    "kll_sketch_agg_double": Case(lambda f: f.kll_sketch_agg_double("real"), quantiles("double")),
    "kll_merge_agg_bigint": Case(lambda f: f.kll_merge_agg_bigint("longs"), quantiles("bigint")),
    "kll_merge_agg_float": Case(lambda f: f.kll_merge_agg_float("floats"), quantiles("float")),
    "kll_merge_agg_double": Case(lambda f: f.kll_merge_agg_double("doubles"), quantiles("double")),
    "tuple_intersection_agg_double": Case(
        lambda f: f.tuple_intersection_agg_double("tuples"), tuples("double")
    ),
    "tuple_intersection_agg_integer": Case(
        lambda f: f.tuple_intersection_agg_integer("counts", "max"), tuples("integer")
    ),
    "approx_top_k": Case(sql_only("approx_top_k", "word", 20, 100), unordered),
    "approx_top_k_accumulate": Case(sql_only("approx_top_k_accumulate", "word", 100), top),
    "approx_top_k_combine": Case(combined, top),
}
