"""One PostgreSQL for the tests of look-ups: one of their own, since they kill it."""

from collections.abc import Iterator

import pytest

from headrace.local.stack import Stack
from tests.lookup.crm import TABLES, Crm


@pytest.fixture(scope="module")
def crm() -> Iterator[Crm]:
    with Stack.temporary() as stack, pytest.MonkeyPatch.context() as patch:
        made = Crm(stack)
        patch.setenv("PGPASSFILE", str(made.password_file))
        patch.delenv("PGPASSWORD", raising=False)
        made.ask(TABLES)
        yield made
