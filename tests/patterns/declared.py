"""Patterns as the oracle knows them: the same words as headrace's, and nothing taken from it.

A condition is text that Python and Spark's SQL read alike: ``v == 'a' and n > 3``.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Union

from tests.transcripts.declared import micros

STRICT, RELAXED, ANY = "strict", "relaxed", "any"


Before = Mapping[str, Sequence[Any]]
"""The events that each step has taken so far."""


class Term:
    """A value that is computed of an event and of those taken before it; null makes null of all around it."""

    def __init__(self, value: Callable[[Any, Before], Any]) -> None:
        self.value = value

    def _with(self, other: Any, operator: Callable[[Any, Any], Any]) -> "Term":
        def both(event: Any, before: Before) -> Any:
            one, two = (
                self.value(event, before),
                other.value(event, before) if isinstance(other, Term) else other,
            )
            return None if one is None or two is None else operator(one, two)

        return Term(both)

    def __getitem__(self, field: str) -> "Term":
        return Term(lambda event, before: _field(self.value(event, before), field))

    def __add__(self, other: Any) -> "Term":
        return self._with(other, operator.add)

    def __mul__(self, other: Any) -> "Term":
        return self._with(other, operator.mul)

    def __lt__(self, other: Any) -> "Term":
        return self._with(other, operator.lt)

    def __gt__(self, other: Any) -> "Term":
        return self._with(other, operator.gt)

    def __le__(self, other: Any) -> "Term":
        return self._with(other, operator.le)

    def __eq__(self, other: object) -> "Term":  # type: ignore[override]
        return self._with(other, operator.eq)

    def __ne__(self, other: object) -> "Term":  # type: ignore[override]
        return self._with(other, operator.ne)

    __hash__ = object.__hash__

    def isNull(self) -> "Term":  # noqa: N802 - as it is in Spark
        return Term(lambda event, before: self.value(event, before) is None)

    def __or__(self, other: "Term") -> "Term":
        return Term(lambda event, before: bool(self.value(event, before)) or bool(other.value(event, before)))


def _field(row: Any, name: str) -> Any:
    return None if row is None else row.values[name]


class F:
    @staticmethod
    def col(name: str) -> Term:
        return Term(lambda event, _: event.values[name])


def prev(step: str) -> Term:
    return Term(lambda _, before: before[step][-1] if before.get(step) else None)


class taken:  # noqa: N801 - as headrace says it
    def __init__(self, step: str) -> None:
        self.step = step

    def _of(self, name: str, made: Callable[[list[Any]], Any], nothing: Any = None) -> Term:
        def value(_: Any, before: Before) -> Any:
            values = [row.values[name] for row in before.get(self.step, ()) if row.values[name] is not None]
            return made(values) if values else nothing

        return Term(value)

    def count(self) -> Term:
        return Term(lambda _, before: len(before.get(self.step, ())))

    def sum(self, name: str) -> Term:
        return self._of(name, sum, 0)

    def avg(self, name: str) -> Term:
        return self._of(name, lambda values: sum(values) / len(values))

    def min(self, name: str) -> Term:
        return self._of(name, min)

    def max(self, name: str) -> Term:
        return self._of(name, max)

    def first(self, name: str) -> Term:
        return self._of(name, lambda values: values[0])

    def last(self, name: str) -> Term:
        return self._of(name, lambda values: values[-1])


@dataclass(frozen=True)
class Condition:
    """Something that is true of an event, or not."""

    said: str | Term

    def __call__(self, event: Any, before: Before) -> bool:
        if isinstance(self.said, Term):
            return bool(self.said.value(event, before))
        # Our own files; what is null is not true.
        try:
            return bool(eval(self.said, {"__builtins__": {}}, dict(event.values)))  # noqa: S307
        except TypeError:
            return False


@dataclass(frozen=True)
class Step:
    what: Union[str, "Pattern"]
    contiguity: str
    negated: bool = False
    condition: tuple[tuple[Condition, ...], ...] = ()
    """Any of these, each of which is all of its own."""
    least: int = 1
    most: int | None = 1
    optional: bool = False
    greedy: bool = False
    inner: str = RELAXED
    until: Condition | None = None
    within: int | None = None

    @property
    def skippable(self) -> bool:
        inside = isinstance(self.what, Pattern) and all(step.skippable for step in self.what.steps)
        return not self.negated and (self.optional or inside)

    def fits(self, event: Any, before: Before) -> bool:
        return not self.condition or any(all(one(event, before) for one in each) for each in self.condition)


@dataclass(frozen=True)
class Pattern:
    steps: tuple[Step, ...]
    length: int | None = None

    @staticmethod
    def begin(first: Union[str, "Pattern"]) -> "Pattern":
        return Pattern((Step(first, RELAXED),))

    def next(self, step: Any) -> "Pattern":
        return self._then(Step(step, STRICT))

    def followed_by(self, step: Any) -> "Pattern":
        return self._then(Step(step, RELAXED))

    def followed_by_any(self, step: Any) -> "Pattern":
        return self._then(Step(step, ANY))

    def not_next(self, step: Any) -> "Pattern":
        return self._then(Step(step, STRICT, negated=True))

    def not_followed_by(self, step: Any) -> "Pattern":
        return self._then(Step(step, RELAXED, negated=True))

    def where(self, *conditions: str | Term) -> "Pattern":
        known = self.steps[-1].condition or ((),)
        more = tuple(map(Condition, conditions))
        # (a or b) and c is a and c, or b and c.
        return self._with(condition=tuple((*each, *more) for each in known))

    def or_where(self, condition: str | Term) -> "Pattern":
        return self._with(condition=(*self.steps[-1].condition, (Condition(condition),)))

    def times(self, least: int, most: int | None = None) -> "Pattern":
        counted = self._with(least=max(1, least), most=least if most is None else most)
        return counted._with(optional=True) if least == 0 else counted

    def times_or_more(self, least: int) -> "Pattern":
        return self._with(least=least, most=None)

    def one_or_more(self) -> "Pattern":
        return self._with(least=1, most=None)

    def optional(self) -> "Pattern":
        return self._with(optional=True)

    def greedy(self) -> "Pattern":
        return self._with(greedy=True)

    def consecutive(self) -> "Pattern":
        return self._with(inner=STRICT)

    def allow_combinations(self) -> "Pattern":
        return self._with(inner=ANY)

    def until(self, condition: str | Term) -> "Pattern":
        return self._with(until=Condition(condition))

    def within(self, length: str, *, since: str = "first") -> "Pattern":
        if since == "previous":
            return self._with(within=micros(length))
        return replace(self, length=micros(length))

    def walk(self) -> Iterator[Step]:
        for step in self.steps:
            yield step
            if isinstance(step.what, Pattern):
                yield from step.what.walk()

    @property
    def looks_back(self) -> bool:
        """Whether a condition looks at earlier events."""
        said = [one.said for step in self.walk() for each in step.condition for one in each]
        said += [step.until.said for step in self.walk() if step.until is not None]
        return any(isinstance(each, Term) for each in said)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(step.what for step in self.walk() if isinstance(step.what, str) and not step.negated)

    def _then(self, step: Step) -> "Pattern":
        return Pattern((*self.steps, step), self.length)

    def _with(self, **changes: Any) -> "Pattern":
        return replace(self, steps=(*self.steps[:-1], replace(self.steps[-1], **changes)))


@dataclass(frozen=True)
class NoSkip:
    def floor(self, match: Any) -> int:  # noqa: ARG002
        """Return the first event that another match may begin with."""
        return 0


@dataclass(frozen=True)
class SkipToNext:
    def floor(self, match: Any) -> int:
        return match[0][0] + 1


@dataclass(frozen=True)
class SkipPastLast:
    def floor(self, match: Any) -> int:
        return match[-1][0] + 1


@dataclass(frozen=True)
class SkipToFirst:
    step: str

    def floor(self, match: Any) -> int:
        return min((place for place, step in match if step == self.step), default=0)


@dataclass(frozen=True)
class SkipToLast:
    step: str

    def floor(self, match: Any) -> int:
        return max((place for place, step in match if step == self.step), default=0)


@dataclass(frozen=True)
class Declared:
    """What is looked for, and how."""

    pattern: Pattern
    after_match: Any = field(default_factory=NoSkip)
    order_by: str | None = None
    chained: bool = False
    """Whether rows come through another step with state: they are judged by the watermark before theirs."""
