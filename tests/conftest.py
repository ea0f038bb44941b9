"""What all tests share: one Spark session, a Kafka and a PostgreSQL for the whole run. Nothing is mocked."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from headrace.local.stack import Stack
from headrace.run import session

# A test's JVM lives for minutes: the quick compiler is worth more than the best one.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session that every test uses, with the kernel in it; two cores, two state partitions."""
    started = session.start(
        "tests",
        master="local[2]",
        partitions=2,
        options={
            "spark.sql.streaming.stateStore.maintenanceInterval": "10min",
            "spark.default.parallelism": "2",
        },
        java_options=JAVA_OPTIONS,
    )
    yield started
    started.stop()


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """The address of a real broker with nothing in it."""
    with Stack.temporary() as stack:
        yield stack.up(["kafka"])["kafka"]


@pytest.fixture(scope="session")
def postgres_stack() -> Iterator[Stack]:
    """A real PostgreSQL; the variable PGPASSFILE names the file of its password, as for users."""
    with Stack.temporary() as stack, pytest.MonkeyPatch.context() as patch:
        stack.up(["postgres"])
        patch.setenv("PGPASSFILE", str(stack.folder / "postgres" / "pgpass"))
        yield stack


@pytest.fixture
def postgres(postgres_stack: Stack) -> str:
    """The address of the PostgreSQL, which stays the same when a test has stopped it."""
    return postgres_stack.up(["postgres"])["postgres"]
