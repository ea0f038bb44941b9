"""The example of orders and customers: its views, asked while they change, are those of a batch."""

import runpy
from collections import defaultdict
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headrace.run import pipeline_file, query
from headrace.run import settings as all_settings
from headrace.watch import view as views
from tests.run.broker import SECONDS, Broker

ORDERS = Path(__file__).parents[2] / "examples" / "orders"
HALVES = 2


def test_the_views_are_those_of_a_batch(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    broker = Broker(kafka)
    for topic in ("customers", "orders"):
        broker.create(topic)
    settings = all_settings.load(
        {
            "kafka.bootstrap": kafka,
            "checkpoint": str(tmp_path / "checkpoints"),
            "views.store": str(tmp_path / "views"),
            "state.groups": 4,
        },
        tmp_path,
    )
    messages = list(runpy.run_path(str(ORDERS / "generator.py"))["messages"](3, 600))
    tables: dict[str, dict[str, dict[str, Any]]] = {"customers": {}, "orders": {}}
    pipeline = pipeline_file.load(str(ORDERS / "pipeline.py"))
    seen = []
    for half in range(HALVES):
        sent = messages[half * len(messages) // HALVES : (half + 1) * len(messages) // HALVES]
        for topic, key, row in sent:
            if row is None:
                tables[topic].pop(key, None)
            else:
                tables[topic][key] = row
        broker.send_keyed(sent)
        running = query.start(pipeline, settings, until="caught up", spark=spark)
        assert running.wait(SECONDS * 4)
        running.finish()
        expected: dict[Any, list[int]] = defaultdict(list)
        for order in tables["orders"].values():
            expected[tables["customers"].get(order["customer"], {}).get("country")].append(order["amount"])
        found = views.rows(views.find(settings.views, "countries"))
        assert {row[0]: row[1:] for row in found.rows} == {
            country: (len(amounts), sum(amounts)) for country, amounts in expected.items()
        }
        placed = views.find(settings.views, "placed")
        there = views.ask(placed, "SELECT id, status FROM placed").rows
        assert dict(there) == {key: order["status"] for key, order in tables["orders"].items()}
        agree = (
            "SELECT orders = n AND total = t FROM everything, "
            "(SELECT count(*) AS n, sum(amount) AS t FROM placed)"
        )
        assert views.ask(placed, agree).rows == [(1,)]
        seen.append(found.epoch)
    assert seen == sorted(set(seen)), "the views did not change"
