"""The aggregate functions that a window offers: what each is called, takes and needs."""

from dataclasses import dataclass
from typing import Literal

LIMIT = 10_000
"""How many values an aggregate keeps for a key and window that keeps them, unless it is told otherwise."""


@dataclass(frozen=True)
class Function:
    """A function, under the kernel's name for it.

    `columns` are the parameters that are columns; none of them is named where there may be any number.
    `numeric`: they are numbers. `compared`: which of them must have values that can be compared.
    `limited`: it keeps values, up to a limit. `analysed`: Spark is asked where it casts the columns, and
    for the constant arguments, with which the kernel runs Spark's own code.
    """

    name: str
    columns: tuple[str, ...] = ("col",)
    numeric: bool = False
    compared: Literal["none", "all", "last"] = "none"
    limited: bool = False
    analysed: bool = False


_SKETCHES = (
    "percentile_approx",
    "histogram_numeric",
    "count_min_sketch",
    "hll_sketch_agg",
    "hll_union_agg",
    "theta_sketch_agg",
    "theta_union_agg",
    "theta_intersection_agg",
    "tuple_union_agg_double",
    "tuple_union_agg_integer",
    "tuple_intersection_agg_double",
    "tuple_intersection_agg_integer",
    "kll_sketch_agg_bigint",
    "kll_sketch_agg_float",
    "kll_sketch_agg_double",
    "kll_merge_agg_bigint",
    "kll_merge_agg_float",
    "kll_merge_agg_double",
)
_MOMENTS = ("stddev_samp", "stddev_pop", "var_samp", "var_pop")

SQL_ONLY = ("approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine")
"""Functions that Spark has in SQL and not in ``pyspark.sql.functions``: F.call_function(name, ...)."""

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("count"),
        Function("sum", numeric=True),
        Function("min", compared="all"),
        Function("max", compared="all"),
        Function("avg", numeric=True),
        Function("first"),
        Function("last"),
        Function("min_by", ("col", "ord"), compared="last"),
        Function("max_by", ("col", "ord"), compared="last"),
        Function("bool_and"),
        Function("bool_or"),
        *(Function(name, numeric=True, analysed=True) for name in _MOMENTS),
        Function("count_distinct", (), compared="all", limited=True),
        Function("collect_list", limited=True),
        Function("collect_set", compared="all", limited=True),
        Function("approx_count_distinct", compared="all"),
        *(Function(name, analysed=True) for name in (*_SKETCHES, *SQL_ONLY)),
        Function("tuple_sketch_agg_double", ("key", "summary"), analysed=True),
        Function("tuple_sketch_agg_integer", ("key", "summary"), analysed=True),
    )
}

_ALIASES = {
    "mean": "avg",
    "first_value": "first",
    "any_value": "first",
    "last_value": "last",
    "every": "bool_and",
    "some": "bool_or",
    "stddev": "stddev_samp",
    "std": "stddev_samp",
    "variance": "var_samp",
    "countDistinct": "count_distinct",
    "array_agg": "collect_list",
    "approx_percentile": "percentile_approx",
}


def function(called: str) -> Function | None:
    """Return the function that pyspark calls so; None when a window does not have it."""
    return FUNCTIONS.get(_ALIASES.get(called, called))


def names() -> tuple[str, ...]:
    """Return all names that pyspark has for them."""
    return (*(name for name in FUNCTIONS if name not in SQL_ONLY), *_ALIASES)
