"""What a condition of a pattern may say of the events that were taken before."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from headrace.declare.expr import Expression
from headrace.declare.recorded import Recorded
from headrace.errors import DeclarationError, caller

if TYPE_CHECKING:
    from pyspark.sql import Column

Look = Literal["prev", "count", "sum", "avg", "min", "max", "first", "last"]


@dataclass(frozen=True)
class Earlier(Expression):
    """A look at the events that a step has taken so far in the match: the last of them, or a sum of all."""

    step: str
    look: Look
    column: str | None = None

    def text(self) -> str:
        """Return it as it is written."""
        if self.look == "prev":
            return f"prev({self.step})"
        return f"taken({self.step}).{self.look}({self.column or ''})"


@dataclass(frozen=True)
class Taken:
    """The events that a step has taken so far in the match; the one that is looked at is not among them."""

    step: str

    def count(self) -> "Column":
        """Return how many there are."""
        return self._look("count", None)

    def sum(self, column: str) -> "Column":
        """Return the sum of a column, 0 where there are none."""
        return self._look("sum", column)

    def avg(self, column: str) -> "Column":
        """Return the mean of a column, null where there are none."""
        return self._look("avg", column)

    def min(self, column: str) -> "Column":
        """Return the least value of a column."""
        return self._look("min", column)

    def max(self, column: str) -> "Column":
        """Return the greatest value of a column."""
        return self._look("max", column)

    def first(self, column: str) -> "Column":
        """Return the value of a column in the first event."""
        return self._look("first", column)

    def last(self, column: str) -> "Column":
        """Return the value of a column in the last event."""
        return self._look("last", column)

    def _look(self, look: Look, column: Any) -> "Column":
        where = caller()
        if look != "count" and not isinstance(column, str):
            raise DeclarationError(
                f"taken(...).{look} takes the name of a column, not {column!r}",
                where=where,
                cure=f'write taken("{self.step}").{look}("amount")',
            )
        return Recorded(Earlier(self.step, look, column, where=where))  # type: ignore[return-value]


def prev(step: str) -> "Column":
    """Return the last event that a step has taken in the match, null where there is none.

    >>> prev("login")["country"]
    <column prev(login)['country']>
    """
    return Recorded(Earlier(_name(step, "prev"), "prev", where=caller()))  # type: ignore[return-value]


def taken(step: str) -> Taken:
    """Return all events that a step has taken so far in the match, to be counted and summed up.

    >>> taken("probe").sum("amount")
    <column taken(probe).sum(amount)>
    """
    return Taken(_name(step, "taken"))


def looks(expression: Expression) -> Iterator[Earlier]:
    """Yield what an expression says of earlier events."""
    return (part for part in expression.walk() if isinstance(part, Earlier))


def _name(step: Any, verb: str) -> str:
    if not isinstance(step, str):
        raise DeclarationError(
            f"{verb} takes the name of a step of the pattern, not {step!r}",
            where=caller(),
            cure=f'write {verb}("login")',
        )
    return step
