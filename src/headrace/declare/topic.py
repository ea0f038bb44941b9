"""Topics: what is read from Kafka, and how its rows look."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from headrace.declare.datatype import TIMESTAMP
from headrace.declare.naming import matches
from headrace.declare.record import RecordSchema, schema_of
from headrace.declare.suggestion import did_you_mean
from headrace.declare.watermark import Watermark
from headrace.errors import DeclarationError, caller

if TYPE_CHECKING:
    from headrace.declare.stream import Stream
    from headrace.declare.table import Table

Start = Literal["earliest", "latest"]
OnError = Literal["reject", "fail"]
OnDataLoss = Literal["fail", "continue"]
Codec = Literal["json"]

_LEGAL = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, init=False)
class Topic:
    """A Kafka topic whose values are records.

    ::

        payments = Topic("payments", Payment, key="card", time="at")

    `key` and `time` are fields of the record; `time` is what windows go by. `start` is where a new
    pipeline begins to read: "earliest", "latest" or a time. Bad rows leave through ``.rejected``, or stop
    the pipeline with ``on_error="fail"``. Rows that Kafka deleted before they were read stop it too, but
    for ``on_data_loss="continue"``. `partitions` is how many the topic is created with where that is
    asked for. `options` go to the Kafka client as they are.
    """

    name: str
    record: type
    key: str | None
    time: str | None
    compacted: bool
    partitions: int | None
    start: Start | datetime
    on_error: OnError
    on_data_loss: OnDataLoss
    codec: Codec
    # Passwords may be in there.
    options: Mapping[str, str] = field(repr=False, hash=False)
    where: str = field(compare=False, repr=False)

    def __init__(
        self,
        name: str,
        record: type,
        *,
        key: str | None = None,
        time: str | None = None,
        compacted: bool = False,
        partitions: int | None = None,
        start: Start | datetime = "earliest",
        on_error: OnError = "reject",
        on_data_loss: OnDataLoss = "fail",
        codec: Codec = "json",
        options: Mapping[str, str] | None = None,
    ) -> None:
        where = caller()
        given = {
            "name": name,
            "record": record,
            "key": key,
            "time": time,
            "compacted": compacted,
            "partitions": partitions,
            "start": start,
            "on_error": on_error,
            "on_data_loss": on_data_loss,
            "codec": codec,
            "options": client_options(options, f'Topic("{name}")', where),
            "where": where,
        }
        for attribute, value in given.items():
            object.__setattr__(self, attribute, value)
        check_topic_name(name, where)
        if schema_of(record) is None:
            raise _no_record(name, record, where)
        check_partitions(f'Topic("{name}")', partitions, where)
        self._check_columns()
        self._check_choices()

    @property
    def schema(self) -> RecordSchema:
        """The fields of the record."""
        schema = schema_of(self.record)
        if schema is None:
            raise _no_record(self.name, self.record, self.where)
        return schema

    def stream(self, *, watermark: Watermark | None = None, name: str | None = None) -> "Stream":
        """Return the rows of this topic as they come.

        `watermark` is needed by windows: Bounded, Adaptive, Perfect, Punctuated or ProcessingTime. `name` is
        the identity of the source in the checkpoint, by default the topic's name with ``_`` for what is
        neither letter nor digit.
        """
        # The stream needs the nodes, and the nodes know their topic.
        from headrace.declare.stream import from_topic

        return from_topic(self, watermark, name)

    def table(self, *, name: str | None = None, watermark: Watermark | None = None) -> "Table":
        """Return the last record of each key: a null value deletes the row of the message's key.

        The order is that of the topic; a key whose records are in two partitions goes by time, which is the
        topic's `time` field, else Kafka's timestamp. The table holds time up until it is read to its end, and
        never after. `name` is the identity of the source, as for streams.

        >>> cards = Topic("cards", Card, key="card", compacted=True).table()  # doctest: +SKIP
        """
        from headrace.declare.table import from_compacted

        return from_compacted(self, watermark, name)

    def _check_columns(self) -> None:
        for argument, column in (("key", self.key), ("time", self.time)):
            if column is not None and column not in self.schema.names:
                raise DeclarationError(
                    f'{argument}="{column}" is no field of {self.schema.name}',
                    where=self.where,
                    cure=did_you_mean(column, self.schema.names, what="fields"),
                )
        time = self.schema.field(self.time) if self.time else None
        if time is not None and not time.type.same_as(TIMESTAMP):
            raise DeclarationError(
                f'time="{time.name}" is no datetime but {time.type.ddl()}',
                where=self.where,
                cure=_times(self.schema) or f"give {self.schema.name} a field of type datetime",
            )
        if self.compacted and self.key is None:
            raise DeclarationError(
                f'Topic("{self.name}", compacted=True) has no key',
                where=self.where,
                cure="name the field by which it is compacted: key=...",
            )

    def _check_choices(self) -> None:
        choose("on_error", self.on_error, get_args(OnError), self.where)
        choose("on_data_loss", self.on_data_loss, get_args(OnDataLoss), self.where)
        choose("codec", self.codec, get_args(Codec), self.where)
        if not isinstance(self.start, datetime):
            choose("start", self.start, get_args(Start), self.where, besides="a datetime with a time zone")
        elif self.start.tzinfo is None:
            raise DeclarationError(
                f"start={self.start} has no time zone",
                where=self.where,
                cure="write for example datetime(2026, 1, 1, tzinfo=UTC)",
            )


def check_topic_name(name: Any, where: str) -> None:
    """Refuse what Kafka would not take as a topic's name."""
    if not matches(_LEGAL, name) or name in {".", ".."}:
        raise DeclarationError(
            f"{name!r} is no name for a topic",
            where=where,
            cure="use 1 to 249 letters, digits, dots, underscores and hyphens",
        )


def choose(argument: str, value: Any, allowed: tuple[Any, ...], where: str, *, besides: str = "") -> None:
    """Refuse a value that is none of the allowed ones."""
    if value in allowed:
        return
    choices = " or ".join(f'"{each}"' for each in allowed)
    cure = f"write {choices}" + (f", or {besides}" if besides else "")
    raise DeclarationError(f"{argument}={value!r} is unknown", where=where, cure=cure)


def client_options(options: Mapping[str, str] | None, what: str, where: str) -> Mapping[str, str]:
    """Return options of a Kafka client as a read-only mapping of strings."""
    made: dict[str, str] = {}
    given: Any = options if options is not None else {}
    if not isinstance(given, Mapping):
        raise DeclarationError(
            f"the options of {what} are {type(given).__name__}, not names and values",
            where=where,
            cure='write options={"fetch.max.bytes": "1000000"}',
        )
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, str | int | float):
            raise DeclarationError(
                f"the option {name!r} of {what} is no string",
                where=where,
                cure='options are names and values of the Kafka client: {"fetch.max.bytes": "1000000"}',
            )
        made[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return MappingProxyType(made)


def check_partitions(what: str, partitions: Any, where: str) -> None:
    """Refuse a number of partitions that Kafka would not take."""
    if partitions is not None and (not isinstance(partitions, int) or partitions < 1):
        raise DeclarationError(
            f"{what} cannot have {partitions!r} partitions", where=where, cure="give 1 or more"
        )


def _no_record(name: str, record: Any, where: str) -> DeclarationError:
    shown = record.__name__ if isinstance(record, type) else repr(record)
    cure = f"put @record above the class {shown}" if isinstance(record, type) else "give a class with @record"
    return DeclarationError(f'Topic("{name}"): {shown} is no record', where=where, cure=cure)


def _times(schema: RecordSchema) -> str:
    times = [field.name for field in schema.fields if field.type.same_as(TIMESTAMP)]
    return f"name a field of type datetime: {', '.join(times)}" if times else ""
