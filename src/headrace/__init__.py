"""Streaming in Python on Spark: event time, state in the JVM, exactly-once delivery.

What a pipeline file needs is here; nothing of it starts a JVM.
"""

from headrace.declare.functions import F
from headrace.declare.keyed import Keyed, Windowed
from headrace.declare.pipeline import Pipeline
from headrace.declare.record import Precision, decimal, record
from headrace.declare.sink import Delivery, Kafka
from headrace.declare.stream import Stream
from headrace.declare.topic import Topic
from headrace.declare.watermark import (
    Adaptive,
    Bounded,
    Perfect,
    ProcessingTime,
    Punctuated,
    Watermark,
)
from headrace.declare.window import Tumbling
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
    "Bounded",
    "CheckpointError",
    "DeclarationError",
    "Delivery",
    "DeliveryError",
    "F",
    "HeadraceError",
    "Kafka",
    "Keyed",
    "Perfect",
    "Pipeline",
    "PlanError",
    "Precision",
    "ProcessingTime",
    "Punctuated",
    "RunError",
    "SettingsError",
    "SetupError",
    "Stream",
    "Topic",
    "Tumbling",
    "Watermark",
    "Windowed",
    "__version__",
    "decimal",
    "record",
]
