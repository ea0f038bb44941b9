"""What no pattern may be that is looked for: without an end, or with a negation next to what is optional."""

from typing import Any

from headrace.declare.pattern import Pattern, Step
from headrace.errors import DeclarationError


def check_pattern(pattern: Any, where: str) -> Pattern:
    """Refuse what cannot be looked for; return the pattern."""
    if not isinstance(pattern, Pattern):
        raise DeclarationError(
            f"{pattern!r} is no pattern",
            where=where,
            cure='write Pattern.begin("first").where(...).followed_by("second").where(...)',
        )
    last = pattern.steps[-1]
    if last.negated and pattern.length is None and last.within is None:
        raise DeclarationError(
            f'the pattern ends in "{last.name}", which must not come: it may always come yet',
            where=last.where,
            cure='say for how long it must not: .within("5 minutes")',
        )
    _check_negations(pattern)
    _check_end(pattern)
    return pattern


def _check_negations(pattern: Pattern) -> None:
    for before, step in zip((None, *pattern.steps), pattern.steps, strict=False):
        if step.negated:
            _check_negation(before, step)
    for step, behind in zip(pattern.steps, pattern.steps[1:], strict=False):
        _check_order(step, behind)
    for step in pattern.steps:
        if not isinstance(step.what, Pattern):
            continue
        if step.what.steps[-1].negated:
            raise DeclarationError(
                f'a group ends in "{step.what.steps[-1].name}", which must not come',
                where=step.what.steps[-1].where,
                cure="say it behind the group",
            )
        if step.what.length is not None:
            raise DeclarationError(
                "within is of the whole pattern, and not of a group in it",
                where=step.where,
                cure='say it of the whole; or of a step: .within(..., since="previous")',
            )
        _check_negations(step.what)


def _check_negation(before: Step | None, step: Step) -> None:
    if step.condition is None:
        raise DeclarationError(
            f'"{step.name}", which must not come, has no condition: any event would be it',
            where=step.where,
            cure=f'say which events: .where(...) behind "{step.name}"',
        )
    if before is None or not isinstance(before.what, Pattern):
        return
    if before.repeats:
        raise DeclarationError(
            f'"{step.name}" must not come after a group that repeats, which this version cannot look for',
            where=step.where,
            cure="write the group as often as it has to come, or let a step of its own end it",
        )
    last = before.what.steps[-1]
    while isinstance(last.what, Pattern):
        last = last.what.steps[-1]
    if step.contiguity == "next" and last.is_greedy and last.inner != "next":
        raise DeclarationError(
            f'"{step.name}" must not come next after "{last.name}", which is greedy: it lets events '
            "pass while it waits for more, and nobody knows which one is next",
            where=step.where,
            cure=f'write .consecutive() for "{last.name}", or .not_followed_by("{step.name}")',
        )


def _check_order(step: Step, behind: Step) -> None:
    if not step.negated:
        return
    first = behind
    while isinstance(first.what, Pattern) and not first.may_be_skipped:
        first = first.what.steps[0]
    if first.may_be_skipped:
        raise DeclarationError(
            f'"{step.name}" must not come before "{first.name}", which need not be there: it is not '
            "said how long to look for it",
            where=step.where,
            cure=f'make "{first.name}" not optional, or look for two patterns: with it, and without',
        )
    if step.within is not None:
        raise DeclarationError(
            f'"{step.name}" must not come before "{behind.name}", and says within when: that is when '
            f'"{behind.name}" comes',
            where=step.where,
            cure=f'say it of "{behind.name}": .within(..., since="previous")',
        )


def _check_end(pattern: Pattern) -> None:
    """Refuse a greedy step before one at the end that is greedy and need not be there."""
    for step, behind in zip(reversed(pattern.steps[:-1]), reversed(pattern.steps[1:]), strict=True):
        if not behind.may_be_skipped:
            return
        if step.is_greedy and behind.is_greedy:
            raise DeclarationError(
                f'"{step.name}" is greedy, and so is "{behind.name}", which need not be there: this '
                "version does not know when such an end is reached",
                where=behind.where,
                cure=f'let only one of them be greedy, or make "{behind.name}" not optional',
            )
