"""Event times are read as the kernel's codec reads them, checked against the codec itself."""

import json

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType, TimestampType

from headrace.plan.kernel import Kernel
from headrace.watch.lateness.event_time import Refused, event_time, micros

SECOND = 1_000_000
TIMES = [
    "2026-01-31T12:30:15.123456Z",
    "2026-01-31 12:30:15z",
    "2026-01-31t12:30",
    "2026-01-31T12:30:15.1+01:00",
    "2026-01-31T12:30:15.123456789-0530",
    "2026-01-31T00:30+18",
    "2024-02-29T23:59:59.999999Z",
    "1969-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
]
NO_TIMES = [
    "",
    "2026-01-31",
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:30:60Z",
    "2026-01-31T12:30:15.Z",
    "2026-01-31T12:30:15.1234567890Z",
    "2026-01-31T12:30:15,5Z",
    "2026-01-31T12:30:15+18:01",
    "2026-01-31T12:30:15+1:00",
    "2026-01-31T12:30:15+01:60",
    "2026-01-31T12:30:15 UTC",
    "2026-01-31T12:30:15Z ",
    "20260131T123015Z",
    "2026-W05-6T12:30:15Z",
    "0000-01-01T00:00:00Z",
    "٢٠٢٦-01-31T12:30:15Z",
    "1769862615",
]
MESSAGES = [
    *(json.dumps({"at": text}).encode() for text in (*TIMES, *NO_TIMES)),
    b'{"at": 1769862615}',
    b'{"at": null}',
    b'{"at": {"at": "2026-01-31T12:30:15Z"}}',
    b'{"other": NaN, "at": "2026-01-31T12:30:15Z"}',
    b'{"at": "2026-01-31T12:30:15Z"} and more',
    b'{"at": "2026-01-31T12:30:15Z"',
    b'{"other": "\xff", "at": "2026-01-31T12:30:15Z"}',
    b'\xef\xbb\xbf{"at": "2026-01-31T12:30:15Z"}',
    b' \n{"other": [1, {"x": 2}], "at": "2026-01-31T12:30:15Z"}\n',
    b'["2026-01-31T12:30:15Z"]',
    b'"2026-01-31T12:30:15Z"',
    b"",
    b"{}",
    None,
]


def test_the_codec_reads_the_same(spark: SparkSession):
    schema = StructType([StructField("at", TimestampType())])
    raw = spark.createDataFrame(
        [(None if each is None else bytearray(each),) for each in MESSAGES], "value binary"
    )
    decoded = Kernel(spark).decode_json(F.col("value"), schema, time="at")
    rows = raw.select(F.unix_micros(decoded["value"]["at"]).alias("at")).collect()
    for message, row in zip(MESSAGES, rows, strict=True):
        found = event_time(message, ("at",))
        assert (None if isinstance(found, Refused) else found) == row["at"], message


@pytest.mark.parametrize("text", TIMES)
def test_a_time(text):
    assert isinstance(micros(text), int)


@pytest.mark.parametrize("text", NO_TIMES)
def test_no_time(text):
    assert micros(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1970-01-01T00:00:01.5Z", 1.5 * SECOND),
        ("1970-01-01 01:00+01", 0),
        ("1970-01-01T00:00-00:30", 1_800 * SECOND),
        ("1970-01-01T00:00:00.123456789", 123_456),
    ],
)
def test_the_moment_that_is_meant(text, found):
    assert micros(text) == found


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (None, Refused.TOMBSTONE),
        (b"", Refused.UNREADABLE),
        (b"[1]", Refused.UNREADABLE),
        (b'{"meta": {"at": ', Refused.UNREADABLE),
        (b"[" * 100_000, Refused.UNREADABLE),
        (b"{}", Refused.MISSING),
        (b'{"meta": 5}', Refused.MISSING),
        (b'{"meta": {"at": null}}', Refused.MISSING),
        (b'{"meta": {"at": 5}}', Refused.NO_TIME),
        (b'{"meta": {"at": "today"}}', Refused.NO_TIME),
    ],
)
def test_what_is_refused_and_why(message, why):
    assert event_time(message, ("meta", "at")) is why


def test_a_nested_column():
    assert event_time(b'{"meta": {"at": "1970-01-01T00:00:01Z"}}', ("meta", "at")) == SECOND
