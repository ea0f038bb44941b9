"""Random changelogs of two tables with foreign keys: after every epoch the view is what SQL joins."""

import sqlite3
from collections import Counter
from contextlib import closing
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace import F, Kafka, Pipeline, Table
from headrace.testing import Harness
from tests.tables.corpus import Epoch
from tests.tables.on_spark import declared, feed
from tests.tables.oracle import Record

# Shrinking would run hundreds of queries.
FEW = settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
TOPICS = ("orders", "customers")
JOINED = (
    "o.g, o.k, o.v, c.c FROM (SELECT k, g, v FROM orders) o {how} JOIN (SELECT k, g AS c FROM customers) c"
)
ASKED = {
    "inner": f"SELECT {JOINED.format(how='INNER')} ON o.g = c.k",
    "outer": f"SELECT {JOINED.format(how='LEFT')} ON o.g = c.k",
    "both": "SELECT coalesce(o.g, c.k), o.k, o.v, c.g FROM orders o FULL JOIN customers c ON o.g = c.k",
    "back": "SELECT c.k, c.g, o.k, o.v FROM customers c JOIN orders o ON o.g = c.k",
    "many": "SELECT o.g, o.k, c.k FROM orders o LEFT JOIN customers c ON o.g = c.g",
    "sums": "SELECT c.g, count(*), sum(o.v) FROM orders o JOIN customers c ON o.g = c.k GROUP BY c.g",
    "beside": "SELECT o.g, o.k, n FROM orders o "
    "JOIN (SELECT g, count(*) AS n FROM orders GROUP BY g) s ON o.g = s.g",
    "three": "SELECT c.g, o.g, o.k, o.v, u.g FROM orders o JOIN customers c ON o.g = c.k "
    "LEFT JOIN customers u ON c.g = u.k",
}
"""The questions of this test, as SQL asks them of the rows that are there."""

CHANGE = st.tuples(
    st.sampled_from(TOPICS),
    st.sampled_from("abcd"),
    st.sampled_from(["a", "b", "c", "d", None]),
    st.none() | st.integers(0, 2),
    st.integers(0, 3).map(lambda number: number == 0),
)
RUN = st.lists(st.lists(CHANGE, max_size=8), min_size=5, max_size=7)


def tables() -> dict[str, Table]:
    """Return the questions as a pipeline asks them; their columns are in the order of SQL's."""
    whole, customers = (declared(topic) for topic in TOPICS)
    orders = whole.select("k", "g", "v")
    named = customers.select("k", c="g")
    bought = orders.join("inner", named, on={"g": "k"})
    of_country = customers.select(c="k", g="g")
    return {
        "inner": bought,
        "outer": orders.join("outer", named, on={"g": "k"}, how="left"),
        "both": orders.join("both", named, on={"g": "k"}, how="full"),
        "back": named.join("back", orders.select(o="k", g="g", v="v"), on={"k": "g"}),
        "many": orders.select("k", "g").join("many", of_country, on="g", how="left"),
        "sums": bought.group_by("c").agg(n=F.count("*"), total=F.sum("v")),
        "beside": orders.select("k", "g").join("beside", orders.group_by("g").agg(n=F.count("*")), on="g"),
        "three": bought.join("three", customers.select("k", up="g"), on={"c": "k"}, how="left"),
    }


@FEW
@given(told=RUN, restarts=st.frozensets(st.integers(1, 6), max_size=2), cut=st.sampled_from([0, 3]))
def test_after_every_epoch_the_view_equals_a_batch_sql_join_of_the_prefix(
    spark: SparkSession, told: list[list[Any]], restarts: frozenset[int], cut: int
) -> None:
    asked = tables()
    deliveries: dict[str, Any] = {name: table.to(Kafka(name)) for name, table in asked.items()}
    changes = {
        f"{name}_changes": asked[name].changes(name=f"{name}-changes").to(Kafka(f"{name}-changes"))
        for name in ("inner", "both", "many")
    }
    now: dict[str, dict[str, Any]] = {topic: {} for topic in TOPICS}
    offsets: Counter[tuple[str, int]] = Counter()
    with Harness(Pipeline("views", **deliveries, **changes), spark, partitions=2, groups=4) as harness:
        for topic in TOPICS:
            harness.partitions(topic, 2)
            # Epochs of their own for what is fed together.
            harness.rows_per_epoch(topic, cut)
        for place, came in enumerate(told):
            if place in restarts:
                harness.restart()
            for topic, key, group, value, deleted in came:
                partition = ord(key) % 2
                row = None if deleted else {"k": key, "g": group, "v": value, "at": place}
                offset = offsets[topic, partition]
                offsets[topic, partition] += 1
                feed(harness, topic, Epoch((Record(key, row, place, partition, offset),)))
                now[topic].pop(key, None)
                if row is not None:
                    now[topic][key] = (key, group, value)
            before = {name: rows(harness, name) for name in ("inner", "both", "many")}
            out = harness.run()
            expected = answers(now)
            for name in ASKED:
                assert rows(harness, name) == expected[name], f"epoch {place}: {name}"
            for name, was in before.items():
                assert replayed(was, out[f"{name}_changes"]) == expected[name], f"epoch {place}: {name}"
        for step, counts in harness.ledger().items():
            assert counts["in"] == counts["used"], step


def rows(harness: Harness, name: str) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in harness.table(name))


def replayed(before: Counter[tuple[Any, ...]], changes: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """Return rows with changes applied, each of which must be of a row that is there."""
    there = before.copy()
    for change in changes:
        if change["before"] is not None:
            was = tuple(change["before"].values())
            assert there[was] == 1, change
            del there[was]
        if change["after"] is not None:
            there[tuple(change["after"].values())] += 1
    return there


def answers(now: dict[str, dict[str, Any]]) -> dict[str, Counter[tuple[Any, ...]]]:
    """Ask SQLite."""
    with closing(sqlite3.connect(":memory:")) as store:
        for topic in TOPICS:
            store.execute(f"CREATE TABLE {topic} (k TEXT, g TEXT, v INTEGER)")
            store.executemany(
                f"INSERT INTO {topic} VALUES (?, ?, ?)",  # noqa: S608 - a name of ours
                list(now[topic].values()),
            )
        return {name: Counter(store.execute(text).fetchall()) for name, text in ASKED.items()}
