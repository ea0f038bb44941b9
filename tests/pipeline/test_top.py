"""Rankings on Spark: against row_number() over the same rows, and what only Spark can refuse."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as spark_functions

from headrace import (
    AfterCount,
    AtWatermark,
    Bounded,
    CheckpointError,
    F,
    HeadraceError,
    Hopping,
    Kafka,
    Pipeline,
    PlanError,
    Stream,
    Topic,
    Tumbling,
    record,
)
from headrace.plan.checks import check
from headrace.plan.layers import Layers
from headrace.run import types
from headrace.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)
SHOWN = ["id", "amount", "weight"]


@record
class Sale:
    id: str
    shop: str | None
    amount: int | None
    weight: float | None
    tags: dict[str, int]
    at: datetime


def sales() -> Stream:
    return Topic("sales", Sale, time="at").stream(watermark=Bounded("0 seconds"))


def made_up(dice: random.Random, count: int) -> list[dict[str, Any]]:
    """Few values, many nulls, equal times: what makes ties. `id` is the place in the only partition."""
    return [
        {
            "id": f"{number:04}",
            "shop": dice.choice(["a", "b", "c", None]),
            "amount": dice.choice([None, *range(-4, 5)]),
            "weight": dice.choice([None, 0.0, -0.0, 1.5, -2.5]),
            "tags": {},
            "at": START + timedelta(seconds=dice.randrange(40)),
        }
        for number in range(count)
    ]


def batch(
    spark: SparkSession,
    rows: list[dict[str, Any]],
    order: str,
    keys: str,
    top: int,
    back: tuple[int, ...] = (0,),
) -> list[str]:
    """Rank rows with row_number(), in Spark's own words; position in the topic is the order of ids.

    A row is in the windows that begin so many seconds before its own ten.
    """
    columns = "id string, shop string, amount bigint, weight double, at timestamp"
    names = [each.split()[0] for each in columns.split(", ")]
    starts = f"explode(transform(array{back}, each -> unix_seconds(at) div 10 * 10 - each)) AS window"
    if len(back) == 1:
        starts = "unix_seconds(at) div 10 * 10 AS window"
    frame = spark.createDataFrame([[row[name] for name in names] for row in rows], columns)
    over = f"row_number() over (partition by {keys} order by {order}, at, id) AS rank"
    ranked = frame.selectExpr("*", starts).selectExpr("*", over).where(f"rank <= {top}")
    return sorted(map(repr, ranked.select(*keys.split(", "), "rank", *SHOWN).collect()))


def standing(changes: list[dict[str, Any]], *names: str) -> list[Any]:
    """What changes leave behind; each takes back only what is there."""
    net: dict[tuple[Any, ...], int] = {}
    for row in changes:
        line = tuple(row[name] for name in (*names, "rank", *SHOWN))
        net[line] = net.get(line, 0) + row["change"]
        assert net[line] in {0, 1}
    return [line for line, count in net.items() if count]


def as_rows(lines: list[Any], *names: str) -> list[str]:
    fields = (*names, "rank", *SHOWN)
    return sorted(repr(Row(**dict(zip(fields, line, strict=True)))) for line in lines)


def second(window: dict[str, datetime]) -> int:
    return int(window["start"].timestamp())


ORDERS: list[tuple[Any, str]] = [
    (F.desc("amount"), "amount desc"),
    (["weight", F.col("amount").desc_nulls_first()], "weight, amount desc nulls first"),
    ([F.asc_nulls_last("amount"), F.desc(F.abs("weight"))], "amount asc nulls last, abs(weight) desc"),
]


@pytest.mark.parametrize(("by", "order"), ORDERS, ids=[order for _, order in ORDERS])
def test_the_end_is_that_of_row_number_over_the_same_rows(spark: SparkSession, by: Any, order: str) -> None:
    dice = random.Random(order)
    rows = made_up(dice, 150)
    stream = sales()
    keyed = stream.key_by("shop")
    early = AtWatermark(early=AfterCount(1))
    options: dict[str, Any] = {"by": by, "columns": SHOWN}
    pipeline = Pipeline(
        "ranked",
        panes=keyed.window("panes", Tumbling("10 seconds")).top(3, **options).to(Kafka("panes")),
        changing=keyed.window(
            "changing", Tumbling("10 seconds"), trigger=early, accumulate="retracting"
        ).top(3, **options).to(Kafka("changing")),
        hops=keyed.window("hops", Hopping("20 seconds", every="10 seconds"))
        .top(3, **options).to(Kafka("hops")),
        standing=keyed.top("standing", 5, **options).to(Kafka("standing")),
        leaders=stream.top("leaders", 7, **options).to(Kafka("leaders")),
    )  # fmt: skip
    with Harness(pipeline, spark, partitions=2, groups=4) as harness:
        left = list(rows)
        while left:
            size = dice.randrange(1, 40)
            harness.feed("sales", *left[:size]).run()
            left = left[size:]
            if dice.random() < 0.3:
                harness.restart()
        harness.drain()
        said = {label: harness.rows(label) for label in pipeline.deliveries}
    panes = [{**row, "window": second(row["window"])} for row in said["panes"]]
    changing = [{**row, "window": second(row["window"])} for row in said["changing"]]
    per_window = batch(spark, rows, order, "shop, window", 3)
    fields = ("shop", "window", "rank", *SHOWN)
    once = [tuple(row[name] for name in fields) for row in panes]
    assert as_rows(once, "shop", "window") == per_window
    assert as_rows(standing(changing, "shop", "window"), "shop", "window") == per_window
    assert as_rows(standing(said["standing"], "shop"), "shop") == batch(spark, rows, order, "shop", 5)
    everybody = batch(spark, [{**row, "shop": "all"} for row in rows], order, "shop", 7)
    all_of_them = [("all", *line) for line in standing(said["leaders"])]
    assert as_rows(all_of_them, "shop") == everybody
    hops = [tuple({**row, "window": second(row["window"])}[name] for name in fields) for row in said["hops"]]
    both = batch(spark, rows, order, "shop, window", 3, (0, 10))
    assert as_rows(hops, "shop", "window") == both


def test_every_column_but_the_keys_is_there_and_of_its_type(spark: SparkSession) -> None:
    best = sales().key_by("shop").top("best", 1, by=F.desc("amount"))
    row = {"id": "1", "shop": None, "amount": 3, "weight": 0.5, "tags": {"x": 1}, "at": START}
    with Harness(Pipeline("whole", best=best.to(Kafka("best"))), spark) as harness:
        [given] = harness.feed("sales", row).run()["best"]
    assert given == {**row, "rank": 1, "change": 1}


def test_a_row_whose_order_cannot_be_computed_is_rejected_and_counted(spark: SparkSession) -> None:
    stream = sales()
    best = stream.key_by("shop").window("best", Tumbling("10 seconds")).top(
        2, by=F.desc(F.col("weight").cast("string").cast("int")), columns=["id"]
    )  # fmt: skip
    pipeline = Pipeline("poor", best=best.to(Kafka("best")), rejected=stream.rejected.to(Kafka("rejected")))
    rows = made_up(random.Random(1), 2)
    rows[0] |= {"weight": 1.5, "at": START}
    rows[1] |= {"weight": None, "at": START}
    with Harness(pipeline, spark) as harness:
        harness.feed("sales", *rows).run()
        assert [row["step"] for row in harness.rows("rejected")] == ["best"]
        assert harness.ledger()["best"] == {"in": 2, "used": 1, "late": 0, "duplicate": 0, "rejected": 1}
        harness.drain()
        assert [(row["rank"], row["id"]) for row in harness.rows("best")] == [(1, "0001")]


def test_a_python_function_and_a_real_column_order_rows(spark: SparkSession) -> None:
    length = F.udf(len, "int")
    by = [length("id"), spark_functions.desc("amount")]
    best = sales().key_by("shop").top("best", 2, by=by, columns=["id"])
    rows = made_up(random.Random(1), 3)
    for row, name, amount in zip(rows, ("long", "ab", "cd"), (9, 1, 2), strict=True):
        row |= {"id": name, "amount": amount, "shop": "a"}
    with Harness(Pipeline("python", best=best.to(Kafka("best"))), spark) as harness:
        given = harness.feed("sales", *rows).run()["best"]
    assert [(row["rank"], row["id"]) for row in given] == [(1, "cd"), (2, "ab")]


def test_columns_that_come_out_of_a_transform(spark: SparkSession) -> None:
    doubled = sales().transform(lambda frame: frame.selectExpr("shop", "amount * 2 AS twice"))
    best = doubled.key_by("shop").window("best", Tumbling("10 seconds")).top(1, by=F.desc("twice"))
    with Harness(Pipeline("doubled", best=best.to(Kafka("best"))), spark) as harness:
        harness.feed("sales", {**made_up(random.Random(1), 1)[0], "shop": "a", "amount": 4}).drain()
        [given] = harness.rows("best")
    assert (given["shop"], given["rank"], given["twice"]) == ("a", 1, 8)


def transformed(sql: str) -> Stream:
    return sales().transform(lambda frame: frame.selectExpr("shop", *sql.split("; ")))


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: transformed("amount").key_by("shop").top("t", 1, by="amuont"), 'no column "amuont"'),
        (lambda: transformed("tags AS t").key_by("shop").top("t", 1, by="t"), "values cannot be compared"),
        (lambda: transformed("id AS rank").key_by("shop").top("t", 1, by="rank"), '"rank" has the name'),
        (lambda: transformed("id; amount AS change").top("t", 1, by="id"), '"change" has the name'),
        (lambda: sales().top("t", 1, by=spark_functions.abs(spark_functions.desc("amount"))), "direction"),
        (lambda: sales().top("t", 1, by=F.col("amount").desc().desc()), "direction"),
    ],
)  # fmt: skip
def test_what_only_spark_knows_is_refused_at_the_users_line(
    spark: SparkSession, attempt: Callable[[], Stream], message: str
) -> None:
    with pytest.raises(HeadraceError) as caught:
        types.check(Layers(Pipeline("wrong", out=attempt().to(Kafka("out")))), spark)
    assert message in str(caught.value)
    assert Path(str(caught.value.where).split(":")[0]).name == Path(__file__).name


def leaders(rows: int, keep: str | None) -> Pipeline:
    best = sales().key_by("shop").top("best", rows, by=F.desc("amount"), columns=["id"], keep=keep)
    return Pipeline("changed", best=best.to(Kafka("best")))


def test_what_does_not_fit_the_state_is_refused_and_another_length_of_keep_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = str(tmp_path / "checkpoint")
    row = {**made_up(random.Random(1), 1)[0], "shop": "a", "amount": 1, "at": START}
    with Harness(leaders(2, "10 seconds"), spark, checkpoint=checkpoint) as harness:
        harness.feed("sales", row).run()
        feed = harness.feed_id
    with pytest.raises(CheckpointError, match="was top 2 by amount desc of id = id and is now top 3"):
        Harness(leaders(3, "10 seconds"), spark, checkpoint=checkpoint)
    with pytest.raises(CheckpointError, match="top was keep for a time, kind top and is now keep for ever"):
        Harness(leaders(2, None), spark, checkpoint=checkpoint)
    with Harness(leaders(2, "30 seconds"), spark, checkpoint=checkpoint, feed=feed) as harness:
        assert not harness.epoch(watermark=START + timedelta(seconds=20)).get("best")
        [over] = harness.epoch(watermark=START + timedelta(seconds=30))["best"]
        assert (over["change"], over["rank"], over["id"]) == (-1, 1, row["id"])


def test_the_plan_refuses_chance_in_what_rows_are_ordered_by(spark: SparkSession) -> None:
    best = sales().key_by("shop").top("best", 1, by=F.rand())
    with pytest.raises(PlanError, match="another value when an epoch is replayed"):
        check(Layers(Pipeline("chance", best=best.to(Kafka("best")))))
