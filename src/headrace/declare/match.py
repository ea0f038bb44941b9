"""The step that looks for a pattern in the rows of each key."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, cast, get_args

from headrace.declare.after_match import AfterMatch, NoSkip, check_after_match
from headrace.declare.datatype import TIMESTAMP, DataType
from headrace.declare.duration import spell
from headrace.declare.earlier import looks
from headrace.declare.expr import Expression, column
from headrace.declare.join import check_followed
from headrace.declare.keyed import check_late, check_step_name
from headrace.declare.node import Port, PortName, StatefulNode
from headrace.declare.pattern import END, START, Pattern, Step
from headrace.declare.pattern_checks import check_pattern
from headrace.declare.projection import check_columns, check_row_expression
from headrace.declare.suggestion import did_you_mean
from headrace.declare.top import Order, orders
from headrace.errors import DeclarationError, HeadraceError

WhenFull = Literal["drop_oldest", "drop_newest", "fail"]

MOST_PARTIAL = 10_000
"""How many partial matches a key may have where nothing is said."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MatchNode(StatefulNode):
    """The matches of a pattern in the rows of each key, in the order of their event times."""

    verb: ClassVar[str] = "match"
    retimes: ClassVar[bool] = True

    pattern: Pattern
    after_match: AfterMatch
    max_partial: int = MOST_PARTIAL
    when_full: WhenFull = "drop_oldest"
    order: tuple[Order, ...] = ()
    """What rows of one time are ordered by, before their position in the topic."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The keys, start and end, and the events of each step."""
        return (*self.keys, START, END, *self.pattern.names)

    @property
    def stem(self) -> str:
        """The step's name."""
        return self.name

    @property
    def ports(self) -> tuple[PortName, ...]:
        """Matches, partial ones that ran out of time, and rows that came too late to be put in order."""
        return ("out", "timed_out", "late")

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The conditions, and what rows are ordered by."""
        return (*self.pattern.expressions, *(each.written for each in self.order))

    @property
    def grows(self) -> str:
        """What the state holds, in words."""
        for_long = "for as long as they may be completed"
        if self.pattern.length is not None:
            for_long = f"for up to {spell(self.pattern.length)}"
        then = {
            "drop_oldest": "the oldest go",
            "drop_newest": "no new ones begin",
            "fail": "the pipeline stops",
        }
        return (
            f"rows from the watermark on, and the partial matches of each key {for_long}; "
            f"with more than {self.max_partial:,} of a key {then[self.when_full]}"
        )

    def text(self) -> str:
        """Return what is looked for, in words."""
        told = self.pattern.text()
        return told if self.after_match == NoSkip() else f"{told}; after a match {self.after_match.text()}"

    def _type(self, column: str) -> DataType | None:
        if column in self.keys:
            return self.parents[0].column_type(column)
        return TIMESTAMP if column in {START, END} else None


def match(
    name: Any,
    port: Port,
    keys: tuple[str, ...],
    pattern: Any,
    *,
    order_by: Any,
    after_match: Any,
    max_partial: Any,
    when_full: Any,
    where: str,
) -> MatchNode:
    """Return the checked step."""
    check_step_name(name, "match", where)
    _check_limit(max_partial, when_full, where)
    found = check_pattern(pattern, where)
    check_followed(port, where)
    check_late(port, where)
    for step in found.walk():
        for condition in (step.condition, step.until):
            if condition is not None:
                check_row_expression(condition, port, condition.where or where, in_pattern=True)
                _check_looks(condition, step, found, port, where)
    check_names(keys, found, where)
    return MatchNode(
        name=name,
        where=where,
        parents=(port,),
        keys=keys,
        pattern=found,
        max_partial=max_partial,
        when_full=cast("WhenFull", when_full),
        after_match=check_after_match(after_match, found.names, where),
        order=() if order_by is None else orders(order_by, port, where, verb="match"),
    )


def _check_limit(max_partial: Any, when_full: Any, where: str) -> None:
    if type(max_partial) is not int or max_partial < 1:
        raise DeclarationError(
            f"max_partial={max_partial!r} is no number of partial matches",
            where=where,
            cure=f"give a whole number from 1 on, or leave it out for {MOST_PARTIAL:,}",
        )
    if when_full not in get_args(WhenFull):
        raise DeclarationError(
            f"when_full={when_full!r} says nothing of what to do with too many partial matches",
            where=where,
            cure=did_you_mean(str(when_full), get_args(WhenFull), what="choices"),
        )


def _check_looks(condition: Expression, step: Step, pattern: Pattern, port: Port, where: str) -> None:
    """Refuse looks at what no earlier step can have taken, and what the kernel cannot compute."""
    flat = not any(isinstance(each.what, Pattern) for each in pattern.steps)
    steps = list(pattern.walk())
    # In a group that repeats, a later step is an earlier one of the round before.
    before = steps[: steps.index(step) + 1] if flat else steps
    known = [each.name for each in before if isinstance(each.what, str) and not each.negated]
    for look in looks(condition):
        if look.step not in known:
            raise DeclarationError(
                f'{look.text()}: "{look.step}" takes no event before "{step.name}" does',
                where=look.where or where,
                cure=did_you_mean(look.step, known, what="steps before it"),
            )
        if look.column is not None:
            check_columns(column(f"`{look.column}`"), port, look.where or where)
        if condition.udfs():
            raise DeclarationError(
                f"{condition.text()} calls a Python function, and looks at earlier events in the kernel",
                where=condition.where or where,
                cure="compute what the function gives before: .with_columns(...).key_by(...).match(...)",
            )


def check_names(
    keys: tuple[str, ...], pattern: Pattern, where: str, kind: type[HeadraceError] = DeclarationError
) -> None:
    """Refuse columns of one name, in any case: to Spark they are one."""
    steps = {name.lower() for name in pattern.names}
    for key in keys:
        if key.lower() in steps:
            raise kind(
                f'the key "{key}" has the name of a step of the pattern',
                where=where,
                cure="give the step another name: its events are a column",
            )
        if key.lower() in {START, END}:
            raise kind(
                f'the key "{key}" has the name of a column that every match has',
                where=where,
                cure=f'rename it: .with_columns({key}_key=F.col("{key}")).key_by("{key}_key")',
            )
