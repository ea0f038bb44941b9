"""Streaming in Python on Spark: event time, state in the JVM, exactly-once delivery."""

__version__ = "0.1.0"
