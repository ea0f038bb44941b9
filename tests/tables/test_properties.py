"""Random changelogs, cuts and restarts: after every epoch a table is the batch answer of the prefix."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace import F, Kafka, Pipeline
from headrace.testing import Harness
from tests.tables import oracle
from tests.tables.corpus import Epoch, line
from tests.tables.on_spark import declared, feed, table_of
from tests.tables.oracle import Record

# Shrinking would run hundreds of queries.
FEW = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
WORDS = {
    "rows": "table",
    "some": 'table.where(F.col("v") > 3).select("k", "g", w=F.col("v") * 2)',
    "groups": 'table.group_by("g", name="of").agg(n=F.count("*"), total=F.sum("v"), most=F.max("v"), '
    'kinds=F.count_distinct("v"))',
    "sizes": 'table.group_by("g", name="sized").agg(n=F.count("*")).group_by("n").agg(groups=F.count("*"))',
    "whole": 'table.group_by("g").agg(total=F.sum("v")).agg(all=F.sum("total"), least=F.min("total"))',
}
RECORD = st.tuples(
    st.sampled_from("abcde"),
    st.sampled_from(["x", "y", "z", None]),
    st.none() | st.integers(0, 9),
    st.integers(0, 40),
    st.integers(0, 3).map(lambda number: number == 0),
)
RUN = st.lists(st.lists(RECORD, max_size=6), min_size=4, max_size=7)


def records(told: list[list[Any]]) -> list[list[Record]]:
    """Return a run's records; each key has a partition of its own, as a producer sends them."""
    offsets = [0, 0]
    made = []
    for epoch in told:
        now = []
        for key, group, value, time, deleted in epoch:
            partition = ord(key) % 2
            row = None if deleted else {"k": key, "g": group, "v": value, "at": time}
            now.append(Record(key, row, time, partition, offsets[partition]))
            offsets[partition] += 1
        made.append(now)
    return made


def pipeline(words: dict[str, str]) -> Pipeline:
    table = declared("items")
    made = {name: eval(text, {"table": table, "F": F}) for name, text in words.items()}  # noqa: S307
    tables: dict[str, Any] = {name: each.to(Kafka(name)) for name, each in made.items()}
    changes = {
        f"{name}_changes": each.changes(name=f"{name}-changes").to(Kafka(f"{name}-changes"))
        for name, each in made.items()
    }
    return Pipeline("tables", **tables, **changes)


def answers(so_far: list[Record]) -> dict[str, list[str]]:
    """Return what a batch run over all records so far gives."""
    table = oracle.of_topic(so_far)
    names: dict[str, Callable[..., Any]] = {"table": table, "F": oracle.F}  # type: ignore[dict-item]
    return {
        name: sorted(line(row) for row in eval(text, dict(names)).rows)  # noqa: S307 - our own words
        for name, text in WORDS.items()
    }


@FEW
@given(told=RUN, restarts=st.frozensets(st.integers(1, 6), max_size=2), cut=st.sampled_from([0, 3]))
def test_after_every_epoch_a_table_is_the_batch_answer_of_the_prefix(
    spark: SparkSession, told: list[list[Any]], restarts: frozenset[int], cut: int
) -> None:
    so_far: list[Record] = []
    replayed: dict[str, dict[str, str]] = {name: {} for name in WORDS}
    with Harness(pipeline(WORDS), spark, partitions=2, groups=4) as harness:
        harness.partitions("items", 2)
        # Epochs of their own for what is fed together.
        harness.rows_per_epoch("items", cut)
        for place, now in enumerate(records(told)):
            if place in restarts:
                harness.restart()
            feed(harness, "items", Epoch(tuple(now)))
            out = harness.run()
            so_far += now
            expected = answers(so_far)
            for name in WORDS:
                assert table_of(harness, name) == expected[name], f"epoch {place}: {name}"
                for change in out[f"{name}_changes"]:
                    apply(replayed[name], change)
                assert len(replayed[name]) == len(expected[name]), f"epoch {place}: the changes of {name}"


def apply(rows: dict[str, str], change: dict[str, Any]) -> None:
    """Apply a change to rows, which must be as the change says they were."""
    key = line({name: value for name, value in change.items() if name not in _CHANGE})
    before = None if change["before"] is None else line(change["before"])
    assert rows.pop(key, None) == before
    if change["after"] is not None:
        rows[key] = line(change["after"])
    assert change["op"] == ("insert" if before is None else "update" if key in rows else "delete")


_CHANGE = {"op", "before", "after", "sequence"}
