"""Streaming in Python on Spark: event time, state in the JVM, exactly-once delivery.

What a pipeline file needs is here; nothing of it starts a JVM.
"""

from headrace.declare.after_match import AfterMatch, NoSkip, SkipPastLast, SkipToFirst, SkipToLast, SkipToNext
from headrace.declare.aggregate import limited
from headrace.declare.earlier import prev, taken
from headrace.declare.functions import F
from headrace.declare.keyed import Keyed, Windowed
from headrace.declare.pattern import Pattern
from headrace.declare.pipeline import Pipeline
from headrace.declare.record import Precision, decimal, record
from headrace.declare.remote import PostgresTable
from headrace.declare.sink import Delivery, Kafka
from headrace.declare.stream import Stream
from headrace.declare.table import Table
from headrace.declare.table_group import Grouped
from headrace.declare.topic import Topic
from headrace.declare.trigger import AfterAll, AfterAny, AfterCount, AtWatermark, Every, Final
from headrace.declare.view import View
from headrace.declare.watermark import (
    Adaptive,
    Bounded,
    Perfect,
    ProcessingTime,
    Punctuated,
    Watermark,
)
from headrace.declare.window import Cumulative, Custom, Global, Hopping, Session, Sliding, Tumbling
from headrace.errors import (
    CheckpointError,
    DeclarationError,
    DeliveryError,
    HeadraceError,
    PlanError,
    RunError,
    SettingsError,
    SetupError,
)

__version__ = "0.1.0"

__all__ = [
    "Adaptive",
    "AfterAll",
    "AfterAny",
    "AfterCount",
    "AfterMatch",
    "AtWatermark",
    "Bounded",
    "CheckpointError",
    "Cumulative",
    "Custom",
    "DeclarationError",
    "Delivery",
    "DeliveryError",
    "Every",
    "F",
    "Final",
    "Global",
    "Grouped",
    "HeadraceError",
    "Hopping",
    "Kafka",
    "Keyed",
    "NoSkip",
    "Pattern",
    "Perfect",
    "Pipeline",
    "PlanError",
    "PostgresTable",
    "Precision",
    "ProcessingTime",
    "Punctuated",
    "RunError",
    "Session",
    "SettingsError",
    "SetupError",
    "SkipPastLast",
    "SkipToFirst",
    "SkipToLast",
    "SkipToNext",
    "Sliding",
    "Stream",
    "Table",
    "Topic",
    "Tumbling",
    "View",
    "Watermark",
    "Windowed",
    "__version__",
    "decimal",
    "limited",
    "prev",
    "record",
    "taken",
]
