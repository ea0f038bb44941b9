from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from headrace import DeliveryError, RunError
from headrace.run.failure import GONE, told


def java(name: str, message: str | None, cause: Any = None) -> Any:
    kind = SimpleNamespace(getName=lambda: name, getSimpleName=lambda: name.rsplit(".", 1)[-1])
    return SimpleNamespace(getClass=lambda: kind, getMessage=lambda: message, getCause=lambda: cause)


class CapturedError(Exception):
    """As pyspark makes them: the text has a plan and a stack, the origin is Java's own."""

    def __init__(self, origin: Any) -> None:
        super().__init__("a plan\n" * 500)
        self._origin = origin


CASES = {
    "step x failed: not JSON": java(
        "org.apache.spark.SparkRuntimeException",
        "[USER_RAISED_EXCEPTION] step x failed: not JSON SQLSTATE: P0001",
    ),
    "ArithmeticException: / by zero": java("java.lang.ArithmeticException", "/ by zero\n\tat a.b(C.java:1)"),
    "OutOfMemoryError": java("java.lang.OutOfMemoryError", None),
    "ValueError: it is wrong": java(
        "org.apache.spark.api.python.PythonException",
        'Traceback (most recent call last):\n  File "x.py", line 1\n    f()\nValueError: it is wrong\n',
    ),
    "NumberFormatException: For input string": java(
        "org.apache.spark.SparkException",
        "Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: "
        "Lost task 0.3 in stage 1.0 (TID 4) (10.0.0.1 executor 1): "
        "java.lang.NumberFormatException: For input string\n\tat java.lang.Long\nDriver stacktrace:",
    ),
}


@pytest.mark.parametrize("said", CASES)
def test_the_root_is_said_in_one_line(said: str) -> None:
    outer = java("org.apache.spark.sql.streaming.StreamingQueryException", "== Plan ==\n" * 99, CASES[said])
    error = told(CapturedError(outer))
    assert (type(error), str(error)) == (RunError, said)


def test_a_delivery_says_its_cure() -> None:
    inner = java("headrace.deliver.DeliveryException", "no answer from Kafka; cure: check the brokers")
    error = told(CapturedError(java("org.apache.spark.SparkException", "…", inner)))
    assert isinstance(error, DeliveryError)
    assert (error.message, error.cure) == ("no answer from Kafka", "check the brokers")


@pytest.mark.parametrize(
    "lost",
    [ConnectionRefusedError(), Py4JNetworkError("x"), Py4JError("An error occurred while calling o1.stop")],
)
def test_a_jvm_that_is_gone_is_said(lost: Exception) -> None:
    assert told(lost).message == GONE
