"""Look-ups in a real PostgreSQL: what rows find, how it is asked, and what happens when it is gone."""

import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from headrace import (
    F,
    HeadraceError,
    Kafka,
    Pipeline,
    PlanError,
    PostgresTable,
    RunError,
    SettingsError,
    Stream,
    Topic,
    Tumbling,
    record,
)
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.plan.remote import specification
from headrace.run import query, remote
from headrace.run import settings as all_settings
from headrace.run.failure import asked
from headrace.testing import Harness
from tests.deliver.waiting import SECONDS, until
from tests.lookup.crm import START, Card, Crm, Customer, Order, Whole, order, orders
from tests.pipeline.test_plan_in_spark import executed
from tests.run.broker import Broker

FIRST = "00000000-0000-0000-0000-00000000000a"


def pipeline(name: str, **streams: Stream) -> Pipeline:
    return Pipeline(name, **{label: each.to(Kafka(f"{name}-{label}")) for label, each in streams.items()})


def counts(spark: SparkSession, harness: Harness, step: str) -> dict[str, int]:
    """What a look-up has done so far."""
    jvm: Any = spark._jvm
    told = jvm.headrace.remote.Lookups.counts(harness.pipeline.name, step)
    return dict(zip(("queries", "asked", "known", "retries"), told, strict=True))


def test_every_row_finds_what_the_table_has_of_its_key(spark: SparkSession, crm: Crm) -> None:
    left = orders.lookup("whole", crm.customers(Whole), on={"customer": "id"})
    inner = orders.lookup("inner", crm.cards(), on={"card": "number"}, how="inner", suffix="_of_card")
    made = pipeline("finds", left=left, inner=inner, rejected=left.rejected)
    with Harness(made, spark) as harness:
        assert list(left.columns or ()) == [
            *("number", "customer", "card", "at"),
            *("name", "tier", "score", "active", "credit", "since", "born", "photo"),
        ]
        harness.feed(
            "orders", order(1, 1, "4711"), order(2, 2, "x"), order(3, 99, "none"), order(4, None, None)
        )
        harness.feed("orders", order(5, 1, "a\0b"), partition=1)
        out = harness.run()
        rows = {row["number"]: row for row in out["left"]}
        assert sorted(rows) == [1, 2, 3, 4, 5]
        assert (rows[1]["name"], rows[1]["tier"], rows[1]["score"], rows[1]["active"]) == (
            "Ann",
            "gold",
            1.5,
            True,
        )
        assert str(rows[1]["credit"]) == "12.50"
        assert rows[1]["since"] == datetime(2020, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)
        assert (rows[1]["born"], rows[1]["photo"]) == (date(1990, 5, 17), b"\x01\x02")
        assert [rows[number]["tier"] for number in (2, 3, 4, 5)] == ["silver", None, None, "gold"]
        assert {rows[2][name] for name in ("name", "score", "active", "credit", "since", "born")} == {None}
        owners = {row["number"]: row["owner"] for row in out["inner"]}
        assert sorted(owners) == [1, 2]
        assert owners[1] == FIRST
        assert out["rejected"] == []
        harness.feed("orders", *(order(number, number) for number in (3, 4, 5)))
        out = harness.run()
        assert out["left"] == []
        assert [(row["step"], row["reason"]) for row in out["rejected"]] == [
            ("whole", "the row that was looked up has in 'credit' a number that is no decimal(10,2)"),
            ("whole", "the row that was looked up has in 'credit' no number: NaN"),
            ("whole", "the row that was looked up has in 'since' a time without end"),
        ]
        plan = executed(harness) + str(harness.query.streamingQuery().lastExecution().toString())
        assert "MapPartitions" in plan
        kept = "".join(
            file.read_text("latin-1") for file in Path(harness.checkpoint).rglob("*") if file.is_file()
        )
        assert '"finds"' in kept
        assert crm.password not in plan + kept


def test_keys_are_asked_for_in_batches_and_answers_are_kept(spark: SparkSession, crm: Crm) -> None:
    kept = orders.lookup("kept", crm.customers(), on={"customer": "id"}, batch=500, cache="1 hour")
    brief = orders.lookup("brief", crm.customers(), on={"customer": "id"}, cache="300 milliseconds")
    with Harness(pipeline("batches", kept=kept, brief=brief), spark) as harness:
        harness.feed("orders", *(order(number, 1_000 + number // 2 % 1_000) for number in range(2_400)))
        out = harness.run()
        assert {row["name"] for row in out["kept"]} == {f"c{1_000 + number}" for number in range(1_000)}
        assert len(out["kept"]) == 2_400
        # One topic partition is one task: a thousand keys are two queries, whatever rows repeat them.
        asked = counts(spark, harness, "kept")
        assert (asked["queries"], asked["asked"], asked["retries"]) == (2, 1_000, 0)
        crm.ask("UPDATE sales.customers SET name = 'changed' WHERE id = 1000")
        harness.feed("orders", order(1, 1_000), order(2, -1))
        [old, _] = harness.run()["kept"]
        assert old["name"] == "c1000"
        asked = counts(spark, harness, "kept")
        harness.feed("orders", order(3, -1))
        [nobody] = harness.run()["kept"]
        assert nobody["name"] is None
        assert counts(spark, harness, "kept")["queries"] == asked["queries"], (
            "nothing was found, which is known"
        )

        def changed() -> bool:
            harness.feed("orders", order(4, 1_000))
            return bool(harness.run()["brief"][0]["name"] == "changed")

        until(changed)
        crm.ask("UPDATE sales.customers SET name = 'c1000' WHERE id = 1000")


def test_no_more_queries_run_at_a_time_than_are_allowed(spark: SparkSession, crm: Crm) -> None:
    jvm: Any = spark._jvm

    @record
    class Named:
        id: int
        name: str | None

    slow = orders.lookup("slow", crm.customers(Named, "slow"), on={"customer": "id"}, queries=3)
    table = jvm.headrace.remote.RemoteTable.parse(json.dumps(specification(slow.port.node, "limit")))  # type: ignore[arg-type]
    server = jvm.headrace.remote.Postgres(table)
    with ThreadPoolExecutor(8) as threads, psycopg.connect(crm.address, autocommit=True) as watching:
        answers = [threads.submit(lambda: len(server.ask([1, 2, 99]))) for _ in range(16)]
        seen = 0
        while not all(each.done() for each in answers):
            [(active,)] = watching.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%\"slow\"%' "
                "AND pid <> pg_backend_pid()"
            ).fetchall()
            seen = max(seen, active)
        assert [each.result() for each in answers] == [2] * 16
        assert seen == server.mostRunning() == 3
        assert server.queries() == 16
    server.close()
    connected = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'headrace'"
    until(lambda: crm.ask(connected) == [])


def server_of(spark: SparkSession, table: PostgresTable, on: dict[str, str]) -> Any:
    """Return what asks a table, without a pipeline around it."""
    jvm: Any = spark._jvm
    looked_up = orders.lookup("asked", table, on=on, suffix="_2", cache="0 seconds")
    told = json.dumps(specification(looked_up.port.node, "direct"))  # type: ignore[arg-type]
    return jvm.headrace.remote.Postgres(jvm.headrace.remote.RemoteTable.parse(told))


def test_a_real_has_one_value_also_once_the_driver_has_prepared_the_query(
    spark: SparkSession, crm: Crm
) -> None:
    @record
    class Scored:
        name: str
        score: float | None

    crm.ask("UPDATE sales.customers SET score = 1.1 WHERE id = 5000")
    server = server_of(spark, crm.customers(Scored), {"card": "name"})
    # The driver prepares what it has asked for five times, and reads it in another form from then on.
    rows = {bytes(server.ask(["c5000"])["c5000"].row()) for _ in range(8)}
    server.close()
    assert len(rows) == 1


def test_a_query_that_takes_too_long_is_not_repeated(spark: SparkSession, crm: Crm) -> None:
    @record
    class Named:
        id: int
        name: str | None

    crm.ask("CREATE VIEW stuck AS SELECT id, name FROM sales.customers, pg_sleep(60)")
    address = f"{crm.address}?options=-c%20statement_timeout=500"
    server = server_of(spark, PostgresTable(address, "stuck", Named), {"customer": "id"})
    with pytest.raises(RunError, match=r"takes too long: .* statement timeout") as caught:
        asked(lambda: server.ask([1]))
    assert "an index on id" in str(caught.value.cure)
    assert (server.queries(), server.retries()) == (1, 0)
    server.close()


def test_a_server_that_is_killed_and_comes_back_is_waited_for(spark: SparkSession, crm: Crm) -> None:
    patient = orders.lookup("patient", crm.customers(), on={"customer": "id"}, cache="0 seconds")
    with Harness(pipeline("killed", out=patient), spark) as harness, ThreadPoolExecutor(1) as thread:
        harness.feed("orders", order(1, 1))
        assert [row["name"] for row in harness.run()["out"]] == ["Ann"]
        crm.kill()
        harness.feed("orders", order(2, 1), order(3, 2))
        running = thread.submit(harness.run)
        until(lambda: counts(spark, harness, "patient")["retries"] >= 2)
        assert not running.done()
        crm.start()
        assert [(row["number"], row["name"]) for row in running.result()["out"]] == [(2, "Ann"), (3, None)]
        assert len(harness.rows("out")) == 3


def test_a_server_that_stays_away_fails_the_epoch_which_is_repeated(spark: SparkSession, crm: Crm) -> None:
    hasty = orders.lookup("hasty", crm.customers(), on={"customer": "id"}, retry="100 milliseconds")
    with Harness(pipeline("hasty", out=hasty), spark) as harness:
        harness.feed("orders", order(1, 1)).run()
        crm.kill()
        try:
            harness.feed("orders", order(2, 3))
            with pytest.raises(
                RunError, match=r"look-up 'hasty': sales\.customers in .* could not be asked"
            ) as caught:
                harness.run()
            assert "test_lookup.py" in str(caught.value.where)
            with pytest.raises(RunError, match="cannot be reached"):
                harness.restart()
        finally:
            crm.start()
        harness.restart()
        assert [(row["number"], row["name"]) for row in harness.run()["out"]] == [(2, "Carl")]


def test_from_topic_to_topic_each_row_is_delivered_once(
    spark: SparkSession, kafka: str, crm: Crm, tmp_path: Path
) -> None:
    broker, name = Broker(kafka), f"lookup-{uuid.uuid4().hex[:8]}"
    broker.create(name)
    source = Topic(name, Order, time="at").stream(name="orders")
    settings = all_settings.load({"kafka.bootstrap": kafka, "checkpoint": str(tmp_path)}, tmp_path)

    def run(table: PostgresTable) -> None:
        found = source.lookup("customers", table, on={"customer": "id"}, how="inner")
        running = query.start(pipeline(name, out=found), settings, until="caught up", spark=spark)
        try:
            assert running.wait(SECONDS)
        finally:
            if running.active():
                running.stop()
        running.finish()

    broker.send(name, [{**order(number, number % 4), "at": START.isoformat()} for number in range(100)])
    with pytest.raises(PlanError, match="has no column nmae"):
        run(crm.customers(Misspelt))
    run(crm.customers())
    broker.send(name, [{**order(number, 1), "at": START.isoformat()} for number in range(100, 120)])
    run(crm.customers())
    delivered = {row["number"]: row["name"] for row in broker.values(f"{name}-out")}
    # Customer 0 is not there.
    assert len(broker.values(f"{name}-out")) == len(delivered) == 95
    assert delivered[1] == delivered[119] == "Ann"
    assert delivered[2] is None
    # As after dying before the last commit: the epoch is replayed, and would find something else now.
    last = max((tmp_path / name / "commits").glob("[0-9]*"), key=lambda file: int(file.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink()
    crm.ask("UPDATE sales.customers SET name = 'Zoe' WHERE id = 1")
    run(crm.customers())
    assert {row["number"]: row["name"] for row in broker.values(f"{name}-out")} == delivered
    assert len(broker.values(f"{name}-out")) == 95
    crm.ask("UPDATE sales.customers SET name = 'Ann' WHERE id = 1")
    jvm: Any = spark._jvm
    assert list(jvm.headrace.remote.Lookups.counts(name, "customers")) == [0] * 4, "what ended is forgotten"


def test_a_replay_that_finds_something_else_sends_each_row_by_the_same_task(
    spark: SparkSession, crm: Crm, tmp_path: Path
) -> None:
    found = orders.lookup("customers", crm.customers(), on={"customer": "id"}, cache="0 seconds")
    with Harness(pipeline("replayed", out=found), spark, checkpoint=str(tmp_path)) as harness:
        harness.partitions("orders", 4)
        for number in range(200):
            harness.feed("orders", order(number, 1_000 + number), partition=number % 4)

        def handed() -> list[tuple[str, str, dict[str, Any]]]:
            """By epoch and task, in the order in which they left."""
            harness._process()
            rows = list(harness._collected.drain())
            return [(epoch, task, json.loads(value)) for epoch, task, _, _, value in rows]

        before = handed()
        last = max(int(epoch) for epoch, _, _ in before)
        crm.ask("UPDATE sales.customers SET name = name || '!'")
        harness.query.stop()
        for log in (f"{last}", f".{last}.crc"):
            (tmp_path / "commits" / log).unlink()
        harness.restart()
        again = handed()
        crm.ask("UPDATE sales.customers SET name = rtrim(name, '!')")
        first = [each for each in before if each[0] == str(last)]
        assert [(task, row["number"]) for _, task, row in again] == [
            (task, row["number"]) for _, task, row in first
        ]
        assert {task for _, task, _ in again} == {"0", "1"}
        assert all(row["name"].endswith("!") for _, _, row in again)


def test_behind_and_between_steps_with_state(spark: SparkSession, crm: Crm) -> None:
    counted = orders.key_by("customer").window("per-customer", Tumbling("1 minute")).agg(n=F.count("*"))
    named = counted.lookup("tier", crm.customers(), on={"customer": "id"}, repeatable=True)
    tiers = (
        named.key_by("tier").window("per-tier", Tumbling("1 hour")).agg(customers=F.count("*"), n=F.sum("n"))
    )
    last = tiers.lookup("again", crm.cards(), on={"tier": "number"})
    made = pipeline("behind", named=named, tiers=tiers, last=last)
    with Harness(made, spark) as harness:
        harness.feed("orders", *(order(number, number % 3 + 1) for number in range(7)))
        out = harness.drain()
        assert {(row["customer"], row["tier"], row["n"]) for row in out["named"]} == {
            (1, "gold", 3),
            (2, "silver", 2),
            (3, "gold", 2),
        }
        found = {(row["tier"], row["customers"], row["n"]) for row in out["tiers"]}
        assert found == {("gold", 2, 5), ("silver", 1, 2)}
        assert {row["tier"] for row in out["last"]} == {"gold", "silver"}
        # What was looked up went on into the state.
        harness.restart()


@record
class Misspelt:
    id: int
    nmae: str | None


@record
class Naive:
    id: int
    naive: datetime | None


@record
class Wrong:
    id: int
    credit: float | None


@record
class ByName:
    name: str
    tier: str


@record
class Owned:
    owner: str
    number: str


REFUSED: dict[str, tuple[Any, str, type[HeadraceError], str]] = {
    "no table": (lambda crm: crm.customers(Customer, "customers"), "id", PlanError, "is not there"),
    "no column": (lambda crm: crm.customers(Misspelt), "id", PlanError, "has no column nmae"),
    "time without zone": (lambda crm: crm.customers(Naive), "id", PlanError, "timestamp without time zone"),
    "numeric as float": (
        lambda crm: crm.customers(Wrong),
        "id",
        PlanError,
        "credit as numeric, which is not",
    ),
    "several rows": (
        lambda crm: crm.customers(ByName),
        "name",
        PlanError,
        "may have several rows of one name",
    ),
    "user may not": (
        lambda crm: PostgresTable(
            f"postgresql://reader:p%40ss%2Fword@{crm.place}", "sales.customers", Customer
        ),
        "id",
        SettingsError,
        "permission denied for schema sales",
    ),
    "wrong password": (
        lambda crm: PostgresTable(f"postgresql://reader:s3cret@{crm.place}", "cards", Card),
        "number",
        SettingsError,
        "password authentication failed",
    ),
    "no password": (lambda crm: crm.cards("reader"), "number", SettingsError, "no password was provided"),
    "no database": (
        lambda crm: PostgresTable(
            f"postgresql://reader:p%40ss%2Fword@{crm.place.replace('/headrace', '/nowhere')}", "cards", Card
        ),
        "number",
        PlanError,
        'database "nowhere" does not exist',
    ),
    "nobody there": (
        lambda _: PostgresTable("postgresql://reader:s3cret@127.0.0.1:1/crm", "cards", Card),
        "number",
        RunError,
        "cannot be reached: .* refused",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_as_declared_is_refused_before_the_first_row(
    spark: SparkSession, crm: Crm, name: str
) -> None:
    table, key, error, what = REFUSED[name]
    by = {"customer" if key == "id" else "card": key}
    looked_up = orders.lookup("customers", table(crm), on=by)
    with pytest.raises(error, match=what) as caught:
        remote.check(Kernel(spark), Layers(pipeline("refused", out=looked_up)))
    told = str(caught.value)
    assert re.search(r"at .*test_lookup\.py:\d+\n  cure: ", told)
    assert "s3cret" not in told
    assert crm.password not in told


def test_a_password_from_the_environment(
    spark: SparkSession, crm: Crm, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(spark)
    monkeypatch.setenv("PGPASSWORD", "p@ss/word")
    cards = orders.lookup("cards", crm.cards("reader"), on={"card": "number"})
    remote.check(kernel, Layers(pipeline("env", out=cards)))
    monkeypatch.delenv("PGPASSWORD")
    named = PostgresTable(f"postgresql://reader:${{CRM_PASSWORD}}@{crm.place}", "cards", Card)
    layers = Layers(pipeline("env", out=orders.lookup("cards", named, on={"card": "number"})))
    with pytest.raises(SettingsError, match="no variable CRM_PASSWORD"):
        remote.find(layers)
    monkeypatch.setenv("CRM_PASSWORD", "p@ss/word")
    remote.find(layers)
    remote.check(kernel, layers)
    assert "p@ss/word" not in repr(named) + repr(layers)


def test_a_uuid_is_a_key_and_a_view_may_not_have_a_key_twice(spark: SparkSession, crm: Crm) -> None:
    owned = PostgresTable(crm.address, "cards", Owned)
    doubled = PostgresTable(crm.address, "doubled", Card)
    by_owner = orders.lookup("owned", owned, on={"card": "owner"}, suffix="_2")
    name = f"uuids-{uuid.uuid4().hex[:6]}"
    with Harness(pipeline(name, out=by_owner.select("card", "number_2")), spark) as harness:
        harness.feed(
            "orders", order(1, None, FIRST), order(2, None, "no uuid"), order(3, None, FIRST.upper())
        )
        harness.feed("orders", order(4, None, str(uuid.uuid4())))
        assert [row["number_2"] for row in harness.run()["out"]] == ["4711", None, None, None]
    twice = orders.lookup("twice", doubled, on={"card": "number"})
    with Harness(pipeline("twice", out=twice), spark) as harness:
        harness.feed("orders", order(1, None, "4711"))
        with pytest.raises(RunError, match="has several rows of one number"):
            harness.run()
