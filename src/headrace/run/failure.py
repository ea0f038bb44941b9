"""What the JVM threw, said in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from py4j.protocol import Py4JError, Py4JNetworkError

from headrace.errors import DeliveryError, HeadraceError, PlanError, RunError, SettingsError

GONE = "Spark's JVM is gone: it was killed, or ran out of memory"

# Names that say no more than that something failed; what they say stands in their message.
_EMPTY_NAMES = frozenset(
    [
        "Exception",
        "RuntimeException",
        "IllegalStateException",
        "IllegalArgumentException",
        "SparkException",
        "SparkRuntimeException",
        "SparkIllegalArgumentException",
        "StreamingQueryException",
        "AnalysisException",
        "UncheckedIOException",
        "ExecutionException",
        "PythonException",
    ]
)
_LONGEST = 600
_OF_REMOTE: dict[str, type[HeadraceError]] = {
    "declared": PlanError,
    "set": SettingsError,
    "running": RunError,
}
"""Whose fault it is that a look-up fails, in the kernel's words."""

Answer = TypeVar("Answer")


def asked(call: Callable[[], Answer]) -> Answer:
    """Call the JVM; what it throws is said in our words, also that it is gone."""
    try:
        return call()
    except HeadraceError:
        raise
    except Exception as failure:
        # pyspark is not imported for this: it may not have been needed yet.
        of_spark = type(failure).__module__.startswith("pyspark.")
        if of_spark or _is_gone(failure) or _java(failure) is not None:
            raise told(failure) from failure
        raise


def told(failure: BaseException) -> HeadraceError:
    """Make what the kernel or Spark threw one sentence, with its cure if it names one."""
    if isinstance(failure, HeadraceError):
        return failure
    if _is_gone(failure):
        return RunError(GONE, cure="run the pipeline again; it goes on from its checkpoint")
    java = _java(failure)
    if java is None:
        return RunError(_sentence(type(failure).__name__, str(failure)))
    try:
        return _of_java(java)
    except Exception as second:
        if _is_gone(second):
            return RunError(GONE, cure="run the pipeline again; it goes on from its checkpoint")
        raise


def _is_gone(failure: BaseException) -> bool:
    return isinstance(failure, ConnectionError | Py4JNetworkError | EOFError) or (
        # py4j's word for a call whose connection broke off.
        type(failure) is Py4JError and "while calling" in str(failure) and "Trace:" not in str(failure)
    )


def _java(failure: BaseException) -> Any:
    """Return the Java exception below Python's, if there is one."""
    # py4j keeps it under one name, pyspark under the other.
    return getattr(failure, "java_exception", None) or getattr(failure, "_origin", None)


def _of_java(java: Any) -> HeadraceError:
    chain = [java]
    while chain[-1].getCause() is not None:
        chain.append(chain[-1].getCause())
    for each in chain:
        text = f"{each.getClass().getName()}: {each.getMessage()}"
        # One that came from a worker may be told only in the text of what Spark threw.
        delivery = re.search(
            r"headrace\.deliver\.DeliveryException: (.*?)(?:; cure: (.*))?$", text, re.MULTILINE
        )
        if delivery:
            return DeliveryError(delivery[1], cure=delivery[2])
        remote = re.search(
            r"headrace\.remote\.RemoteException: (\w+): (.*?); at: (.*?); cure: (.*)$", text, re.MULTILINE
        )
        if remote:
            return _OF_REMOTE[remote[1]](remote[2], where=remote[3], cure=remote[4])
    root = chain[-1]
    name, message = root.getClass().getSimpleName(), root.getMessage() or ""
    lost = re.search(r"Lost task [^\n]*? \(.*?executor [^)]*\): ([\w.$]+?)(?:: ([^\n]*))?(?:\n|$)", message)
    if lost:
        name, message = lost[1].rsplit(".", 1)[-1], lost[2] or ""
    return RunError(_sentence(name, message))


def _sentence(name: str, message: str) -> str:
    """Return one line: the name where it says something, the message without Spark's codes."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if name == "PythonException" or "Traceback (most recent call last):" in message:
        # The last line of a traceback is what was raised.
        lines = [line for line in lines if not line.startswith(("at ", "File "))][-1:]
    text = lines[0] if lines else ""
    text = re.sub(r"^\[[A-Z0-9_.]+\] ", "", text)
    text = re.sub(r" ?SQLSTATE: \w+$", "", text)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    if not text:
        return name
    return text if name in _EMPTY_NAMES else f"{name}: {text}"
