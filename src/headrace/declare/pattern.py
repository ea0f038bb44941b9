"""Patterns: what events must follow each other, as a user says it.

Every call returns a new pattern; what it says is of the step that was named last. A malformed pattern is an
error as soon as that can be known: what is before and behind a step, and what is at the end, when the pattern
is looked for.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, Union

from headrace.declare.duration import duration, spell
from headrace.declare.expr import Call, Expression, Given, Method, Value
from headrace.declare.naming import matches
from headrace.declare.projection import ColumnOrName
from headrace.declare.recorded import Recorded, captured
from headrace.errors import DeclarationError, caller

Contiguity = Literal["next", "followed_by", "followed_by_any"]
"""How an event follows the one before: right behind it, as the next one that fits, or as any that fits."""

Since = Literal["first", "previous"]

START, END = "start", "end"
"""The columns that every match has besides its keys and steps."""

MOST = 1_000
"""How often a step may be asked for by number: each repetition is a state of its own."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Step:
    """A part of a pattern: a step that takes events, one that must not come, or a pattern in its place."""

    what: Union[str, "Pattern"]
    contiguity: Contiguity
    where: str
    negated: bool = False
    condition: Expression | None = None
    at_least: int = 1
    at_most: int | None = 1
    counted: bool = False
    is_optional: bool = False
    is_greedy: bool = False
    inner: Contiguity | None = None
    until: Expression | None = None
    within: timedelta | None = None

    @property
    def name(self) -> str:
        """What the step is called; a group has no name."""
        return self.what if isinstance(self.what, str) else "(...)"

    @property
    def repeats(self) -> bool:
        """Whether it may take more than one event."""
        return self.at_most is None or self.at_most > 1

    @property
    def may_be_skipped(self) -> bool:
        """Whether a match may do without it."""
        return self.is_optional

    def text(self) -> str:
        """Return the step in words, without what it follows."""
        inside = f"({self.what.text()})" if isinstance(self.what, Pattern) else self.what
        said = "" if self.condition is None else f" where {self.condition.text()}"
        if self.within is not None:
            said += f" within {spell(self.within)} of the one before"
        return f"{inside}{self._times()}{said}"

    def _times(self) -> str:
        if not self.counted:
            times = ""
        elif self.at_most is None:
            times = "+" if self.at_least == 1 else f"{{{self.at_least},}}"
        else:
            both = self.at_least == self.at_most
            times = f"{{{self.at_least}}}" if both else f"{{{self.at_least},{self.at_most}}}"
        if self.is_optional:
            times = "*" if times == "+" else f"{times}?"
        words = [times]
        words += ["greedy"] if self.is_greedy else []
        words += (
            [{"next": "consecutive", "followed_by_any": "in any combination"}[self.inner]]
            if self.inner
            else []
        )
        words += [f"until {self.until.text()}"] if self.until is not None else []
        return " ".join(words)


_SAYS = {"next": "then", "followed_by": "followed by", "followed_by_any": "followed by any"}


@dataclass(frozen=True)
class Pattern:
    """What events must follow each other.

    >>> from headrace import F, Pattern
    >>> failed = Pattern.begin("failed").where(F.col("ok") == False).times(3)  # noqa: E712
    >>> failed.followed_by("success").where("ok").within("10 minutes")
    <pattern failed{3} where ok == False, followed by success where ok, within 10 minutes>
    """

    steps: tuple[Step, ...]
    length: timedelta | None = None

    # ------------------------------------------------------------------ what follows what

    @staticmethod
    def begin(first: Union[str, "Pattern"]) -> "Pattern":
        """Begin with a step of this name, or with a pattern as a step."""
        where = caller()
        return Pattern((_step(first, "followed_by", where),))

    def next(self, step: Union[str, "Pattern"]) -> "Pattern":
        """Go on with the very next event of the key."""
        return self._then(_step(step, "next", caller()))

    def followed_by(self, step: Union[str, "Pattern"]) -> "Pattern":
        """Go on with the next event that fits; what does not fit is left out."""
        return self._then(_step(step, "followed_by", caller()))

    def followed_by_any(self, step: Union[str, "Pattern"]) -> "Pattern":
        """Go on with any later event that fits: each of them is a match of its own."""
        return self._then(_step(step, "followed_by_any", caller()))

    def not_next(self, step: str) -> "Pattern":
        """Give a match up if the very next event is such a one."""
        return self._then(_step(step, "next", caller(), negated=True))

    def not_followed_by(self, step: str) -> "Pattern":
        """Give a match up if such an event comes before what follows; at the end, before the time is over."""
        return self._then(_step(step, "followed_by", caller(), negated=True))

    # ------------------------------------------------------------------ what the step takes

    def where(self, *conditions: ColumnOrName) -> "Pattern":
        """Take only events for which this is true: an expression, or SQL text. Several must all be true."""
        where = caller()
        step = self._named("where", where)
        made = step.condition
        for each in conditions:
            one = _condition(each, where)
            made = one if made is None else Method(made, "__and__", (one,), where=where)
        if not conditions:
            raise DeclarationError("where has no condition", where=where, cure='write .where("amount > 5")')
        return self._with(condition=made)

    def or_where(self, condition: ColumnOrName) -> "Pattern":
        """Take also events for which this is true."""
        where = caller()
        step = self._named("or_where", where)
        if step.condition is None:
            raise DeclarationError(
                f'or_where: the step "{step.name}" has no condition, and takes every event already',
                where=where,
                cure="write .where(...) for the first one",
            )
        one = _condition(condition, where)
        return self._with(condition=Method(step.condition, "__or__", (one,), where=where))

    # ------------------------------------------------------------------ how often

    def times(self, at_least: int, at_most: int | None = None) -> "Pattern":
        """Take so many events, or from so many to so many; what is between and does not fit is left out.

        >>> Pattern.begin("failed").times(2, 4)
        <pattern failed{2,4}>
        """
        where = caller()
        most = at_least if at_most is None else at_most
        good = type(at_least) is int and type(most) is int and 0 <= at_least <= most and 1 <= most <= MOST
        if not good:
            raise DeclarationError(
                f"times({at_least!r}{'' if at_most is None else f', {at_most!r}'}) is no number of times",
                where=where,
                cure=f"give whole numbers from 1 to {MOST:,}, the smaller one first: .times(2, 4)",
            )
        return self._counted("times", at_least, most, where)

    def times_or_more(self, at_least: int) -> "Pattern":
        """Take so many events or more."""
        where = caller()
        if type(at_least) is not int or not 1 <= at_least <= MOST:
            raise DeclarationError(
                f"times_or_more({at_least!r}) is no number of times",
                where=where,
                cure=f"give a whole number from 1 to {MOST:,}: .times_or_more(2)",
            )
        return self._counted("times_or_more", at_least, None, where)

    def one_or_more(self) -> "Pattern":
        """Take one event or more."""
        return self._counted("one_or_more", 1, None, caller())

    def optional(self) -> "Pattern":
        """Do without the step where it does not come."""
        where = caller()
        step = self._taking("optional", where)
        if step.is_optional:
            raise _twice(step, "optional", where)
        return self._with(is_optional=True)

    def greedy(self) -> "Pattern":
        """Take as many events as there are: what follows is only looked for where the step takes no more."""
        where = caller()
        step = self._loop("greedy", where, groups=False)
        if step.inner == "followed_by_any":
            raise _any_greedy(step, where)
        return self._with(is_greedy=True)

    def consecutive(self) -> "Pattern":
        """Let no event be between those that the step takes."""
        return self._inner("consecutive", "next", caller())

    def allow_combinations(self) -> "Pattern":
        """Let also events that fit be left out between those that the step takes."""
        return self._inner("allow_combinations", "followed_by_any", caller())

    def until(self, condition: ColumnOrName) -> "Pattern":
        """Take no more events once one comes for which this is true; that one is not taken."""
        where = caller()
        step = self._loop("until", where)
        if step.at_most is not None:
            raise DeclarationError(
                f'until: the step "{step.name}" ends by itself, after {step.at_most} events',
                where=where,
                cure="write .one_or_more() or .times_or_more(...) before .until(...)",
            )
        if step.until is not None:
            raise _twice(step, "until", where)
        return self._with(until=_condition(condition, where))

    # ------------------------------------------------------------------ how long

    def within(self, length: str | timedelta, *, since: Since = "first") -> "Pattern":
        """Let a match be over so long after its first event, or the step so long after the event before.

        All of a match must come in less than this. What has not been completed then leaves through
        ``.timed_out``.

        >>> Pattern.begin("probe").followed_by("hit").within("1 minute", since="previous")
        <pattern probe, followed by hit within 1 minute of the one before>
        """
        where = caller()
        found = duration(length, what="within of a pattern", positive=True)
        step = self.steps[-1]
        if since == "first":
            if self.length is not None:
                raise DeclarationError(
                    f"the pattern is within {spell(self.length)} already", where=where, cure="say it once"
                )
            return replace(self, length=found)
        if since != "previous":
            raise DeclarationError(
                f"since={since!r}: a length is since the first event of the match, or since the previous one",
                where=where,
                cure='write since="previous", or leave it out',
            )
        if isinstance(step.what, Pattern):
            raise DeclarationError(
                'since="previous" is of one step, and this is a group',
                where=where,
                cure="say it of the steps inside of the group",
            )
        if len(self.steps) == 1 and not step.repeats:
            raise DeclarationError(
                f'before "{step.name}" there is no event', where=where, cure="say it of a later step"
            )
        if step.within is not None:
            raise _twice(step, 'within(..., since="previous")', where)
        return self._with(within=found)

    # ------------------------------------------------------------------ what it is

    @property
    def names(self) -> tuple[str, ...]:
        """The steps that take events, in their order: each is a column of a match."""
        return tuple(step.name for step in self.walk() if isinstance(step.what, str) and not step.negated)

    def walk(self) -> Iterator[Step]:
        """Yield all steps, each group before what is in it."""
        for step in self.steps:
            yield step
            if isinstance(step.what, Pattern):
                yield from step.what.walk()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The conditions of all steps."""
        return tuple(
            each for step in self.walk() for each in (step.condition, step.until) if each is not None
        )

    def text(self) -> str:
        """Return the pattern in words."""
        told = self.steps[0].text()
        for step in self.steps[1:]:
            told += f", {'not ' if step.negated else ''}{_SAYS[step.contiguity]} {step.text()}"
        return told if self.length is None else f"{told}, within {spell(self.length)}"

    def __repr__(self) -> str:
        return f"<pattern {self.text()}>"

    # ------------------------------------------------------------------ the steps

    def _then(self, step: Step) -> "Pattern":
        taken = {name.lower() for name in (each.name for each in self.walk() if isinstance(each.what, str))}
        inside = step.what.walk() if isinstance(step.what, Pattern) else iter([step])
        for each in inside:
            if isinstance(each.what, str) and each.name.lower() in taken:
                raise DeclarationError(
                    f'there are two steps "{each.name}"',
                    where=step.where,
                    cure="give one of them another name; Spark does not tell upper from lower case",
                )
        before = self.steps[-1]
        if step.negated and before.may_be_skipped:
            raise DeclarationError(
                f'"{step.name}" must not follow "{before.name}", which need not be there: it is not said '
                "when to begin to look for it",
                where=step.where,
                cure=f'make "{before.name}" not optional, or look for two patterns: with it, and without',
            )
        if step.negated and step.contiguity == "next" and before.is_greedy and before.inner != "next":
            raise DeclarationError(
                f'"{step.name}" must not come next after "{before.name}", which is greedy: it lets events '
                "pass while it waits for more, and nobody knows which one is next",
                where=step.where,
                cure=f'write .consecutive() for "{before.name}", or .not_followed_by("{step.name}")',
            )
        return Pattern((*self.steps, step), self.length)

    def _with(self, **changes: Any) -> "Pattern":
        return replace(self, steps=(*self.steps[:-1], replace(self.steps[-1], **changes)))

    def _named(self, verb: str, where: str) -> Step:
        step = self.steps[-1]
        if isinstance(step.what, Pattern):
            raise DeclarationError(
                f"{verb}: a group of steps has no condition of its own",
                where=where,
                cure="give it to the steps inside of the group",
            )
        return step

    def _taking(self, verb: str, where: str) -> Step:
        step = self.steps[-1]
        if step.negated:
            raise DeclarationError(
                f'{verb}: "{step.name}" must not come at all',
                where=where,
                cure="say it of a step that takes events",
            )
        return step

    def _counted(self, verb: str, at_least: int, at_most: int | None, where: str) -> "Pattern":
        step = self._taking(verb, where)
        if step.counted:
            raise _twice(step, "how often it comes", where)
        made = self._with(at_least=max(1, at_least), at_most=at_most, counted=True)
        return made._with(is_optional=True) if at_least == 0 else made

    def _loop(self, verb: str, where: str, *, groups: bool = True) -> Step:
        step = self._taking(verb, where)
        if not step.repeats:
            raise DeclarationError(
                f'{verb}: the step "{step.name}" does not repeat',
                where=where,
                cure=f"write .one_or_more() or .times(...) before .{verb}(...)",
            )
        if not groups and isinstance(step.what, Pattern):
            raise DeclarationError(
                f"{verb}: a group of steps cannot be {verb}",
                where=where,
                cure="say it of a step inside of it",
            )
        return step

    def _inner(self, verb: str, inner: Contiguity, where: str) -> "Pattern":
        step = self._loop(verb, where)
        if step.inner is not None:
            raise _twice(step, "what may be between its events", where)
        if inner == "followed_by_any" and step.is_greedy:
            raise _any_greedy(step, where)
        return self._with(inner=inner)


def _step(what: str | Pattern, contiguity: Contiguity, where: str, *, negated: bool = False) -> Step:
    if isinstance(what, Pattern) and not negated:
        if all(step.may_be_skipped for step in what.steps):
            raise DeclarationError(
                f"every step of the group ({what.text()}) is optional, so that it may be empty",
                where=where,
                cure="make the group optional, and one of its steps not",
            )
        return Step(what, contiguity, where)
    if not isinstance(what, str) or not matches(_NAME, what):
        raise DeclarationError(
            f"{what!r} is no name for a step of a pattern",
            where=where,
            cure="use letters, digits and underscores, a letter first: the events of the step are a column "
            "of that name",
        )
    if what.lower() in {START, END} and not negated:
        raise DeclarationError(
            f'the step "{what}" has the name of a column that every match has',
            where=where,
            cure=f'call it "{what}ing", or by what happens there',
        )
    return Step(what, contiguity, where, negated=negated)


def _condition(value: Any, where: str) -> Expression:
    """Return a condition as it is stored; its columns are checked when it is known what rows it is of."""
    if isinstance(value, str):
        if not value.strip():
            raise DeclarationError(
                "the condition is empty", where=where, cure='write for example "amount > 5"'
            )
        return Call("expr", (Value(value),), where=where)
    if isinstance(value, bool):
        raise DeclarationError(
            f"the condition is {value}, for every event",
            where=where,
            cure='write an expression, such as F.col("amount") > 5; and use & | ~ for and, or, not',
        )
    expression = captured(value, where)
    if not isinstance(value, Recorded) and not isinstance(expression, Given | Call):
        raise DeclarationError(
            f"{value!r} is no condition", where=where, cure='write an expression, such as F.col("amount") > 5'
        )
    return expression


def _twice(step: Step, what: str, where: str) -> DeclarationError:
    return DeclarationError(f'the step "{step.name}" says {what} twice', where=where, cure="say it once")


def _any_greedy(step: Step, where: str) -> DeclarationError:
    return DeclarationError(
        f'the step "{step.name}" is greedy, and allows combinations: it cannot take all and leave some out',
        where=where,
        cure="remove one of the two",
    )
