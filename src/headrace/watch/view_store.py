"""What reading views asks of a database, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Session(Protocol):
    """A connection that reads the store of one pipeline, and cannot write."""

    def snapshot(self) -> AbstractContextManager[object]:
        """All that is read inside is of one moment, and so of one epoch."""

    def ask(self, sql: str) -> list[Row]:
        """Answer a question of ours."""

    def answer(self, sql: str) -> tuple[tuple[str, ...], list[Row]]:
        """Answer a user's SQL: names of columns, and rows."""

    def rows(
        self, view: str, columns: Mapping[str, str], by: Sequence[str], wanted: Mapping[str, Any] | None
    ) -> list[Row]:
        """Return the rows of a view in the order of its key, all or those of a key.

        Values are the same from every database.
        """

    def changes(self, after: int) -> list[Row]:
        """Return the changes after a number: number, epoch, view, key and value."""

    def last_change(self) -> int:
        """Return the number of the last change that followers are told."""

    def wait(self) -> None:
        """Wait for a moment, or until something may have changed."""


class Store(Protocol):
    """Where the views of a pipeline are."""

    @property
    def pipeline(self) -> str:
        """The pipeline that writes them."""

    def session(self, *, following: bool = False) -> AbstractContextManager[Session]:
        """Connect; `following` if changes will be waited for."""
