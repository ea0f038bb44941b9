"""The pipelines that these tests run, and rows for them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from headrace import Bounded, F, Kafka, Pipeline, Stream, Topic, Tumbling, decimal, record

START = datetime(2026, 1, 1, tzinfo=UTC)


@record
class Sale:
    id: str
    shop: str
    pieces: int
    price: decimal(10, 2)  # type: ignore[valid-type]
    at: datetime


def sales(*, lag: str = "5 seconds", idle: str = "30 seconds", topic: str = "sales") -> Stream:
    return Topic(topic, Sale, key="shop", time="at").stream(watermark=Bounded(lag, idle=idle))


def per_shop(stream: Stream, name: str = "per-shop", size: str = "10 seconds") -> Stream:
    return (
        stream.key_by("shop")
        .window(name, Tumbling(size))
        .agg(sales=F.count("*"), pieces=F.sum("pieces"), last=F.last("id"))
    )


def pipeline(stream: Stream, name: str = "shop", prefix: str = "") -> Pipeline:
    windows = per_shop(stream)
    return Pipeline(
        name,
        panes=windows.to(Kafka(f"{prefix}panes", key="shop")),
        late=windows.late.to(Kafka(f"{prefix}late", key="shop")),
        rejected=stream.rejected.to(Kafka(f"{prefix}rejected")),
    )


def sale(number: int, seconds: float, shop: str = "a", pieces: int = 1) -> dict[str, Any]:
    return {
        "id": str(number),
        "shop": shop,
        "pieces": pieces,
        "price": str(Decimal("9.99")),
        "at": at(seconds),
    }


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat()


def batch(rows: Iterable[dict[str, Any]], size: int = 10) -> dict[tuple[str, int], tuple[int, int]]:
    """Recompute the windows in plain Python: (shop, start) to (sales, pieces)."""
    found: dict[tuple[str, int], tuple[int, int]] = {}
    for row in rows:
        seconds = (datetime.fromisoformat(row["at"]) - START).total_seconds()
        window = (row["shop"], int(seconds // size) * size)
        count, pieces = found.get(window, (0, 0))
        found[window] = (count + 1, pieces + row["pieces"])
    return found


def panes(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, int], tuple[int, int]]:
    found = list(_panes(rows))
    assert len(dict(found)) == len(found), "a window fired twice"
    return dict(found)


def _panes(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[tuple[str, int], tuple[int, int]]]:
    for row in rows:
        start = int((row["window"]["start"] - START).total_seconds())
        yield (row["shop"], start), (row["sales"], row["pieces"])
