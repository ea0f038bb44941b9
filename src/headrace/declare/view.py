"""Views: the rows of each key as they are now, in a store that can be queried."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from headrace.declare.expr import Expression, column
from headrace.declare.naming import matches
from headrace.declare.node import Port
from headrace.declare.sink import Sink
from headrace.declare.table_node import is_table
from headrace.errors import DeclarationError, caller

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_KEPT = "headrace_"
"""What the names of the store's own tables begin with."""


@dataclass(frozen=True, init=False)
class View(Sink):
    """A view: the newest row of each key, in the pipeline's store of views (setting views.store).

    `key` is one column's name, or several; a table has one already. Rows and the epoch's number are
    committed in one transaction, so a reader sees each epoch whole. Read it with ``headrace query NAME``.
    """

    kind: ClassVar[str] = "view"

    name: str = ""
    key: tuple[str, ...] = ()
    where: str = field(default="", compare=False, repr=False)

    def __init__(self, name: str, *, key: str | Sequence[str] = ()) -> None:
        where = caller()
        columns: Any = (key,) if isinstance(key, str) else key
        given: dict[str, Any] = {"name": name, "where": where, "guarantee": "exactly-once"}
        if not matches(_NAME, name) or name.lower().startswith(_KEPT):
            raise DeclarationError(
                f"{name!r} is no name for a view",
                where=where,
                cure=f'write View("balances"): a letter, then letters, digits and _, not "{_KEPT}..."',
            )
        if not isinstance(columns, Sequence) or not all(isinstance(each, str) for each in columns):
            raise DeclarationError(
                f"the key of a view is columns' names, not {key!r}", where=where, cure='write key="account"'
            )
        given["key"] = tuple(columns)
        for attribute, value in given.items():
            object.__setattr__(self, attribute, value)

    def keyed(self, key: tuple[str, ...]) -> "View":
        """Return the same view by a key."""
        made = View(self.name, key=key)
        object.__setattr__(made, "where", self.where)
        return made

    def text(self) -> str:
        """Return ``view "balances" by account``."""
        return f'view "{self.name}" ' + (f"by {', '.join(self.key)}" if self.key else "of one row")

    def key_expressions(self) -> tuple[Expression, ...]:
        """Return the columns of the key."""
        return tuple(column(f"`{each}`", self.where) for each in self.key)

    def check(self, port: Port, where: str) -> None:
        """Refuse rows that nothing tells apart, and a column that a table of SQL has only once."""
        if not self.key and not is_table(port):
            raise DeclarationError(
                f'the view "{self.name}" has no key, and {port.text()} is a stream',
                where=where,
                cure=f'say which rows replace each other: View("{self.name}", key="...")',
            )
        if len({each.lower() for each in self.key}) < len(self.key):
            raise DeclarationError(
                f'the key of the view "{self.name}" names a column twice', where=where, cure="name it once"
            )
