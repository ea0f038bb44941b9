"""What no pattern may be that is looked for: without an end, or with a negation next to what is optional."""

from typing import Any

from headrace.declare.pattern import Pattern
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
    return pattern


def _check_negations(pattern: Pattern) -> None:
    for step, behind in zip(pattern.steps, pattern.steps[1:], strict=False):
        if step.negated and behind.may_be_skipped:
            raise DeclarationError(
                f'"{step.name}" must not come before "{behind.name}", which need not be there: it is not '
                "said how long to look for it",
                where=step.where,
                cure=f'make "{behind.name}" not optional, or look for two patterns: with it, and without',
            )
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
