"""A pattern as the kernel is told of it: what follows what, with conditions as the numbers of their bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from headrace.declare.duration import microseconds
from headrace.declare.earlier import looks
from headrace.declare.expr import Call, Expression, Value
from headrace.declare.match import MatchNode
from headrace.declare.pattern import Pattern, Step

CONDITIONS = "__conditions"
"""The column of a row on its way to the step that holds its conditions."""

MOST = 63
"""As many conditions have bits."""

_CONTIGUITY = {"next": "strict", "followed_by": "relaxed", "followed_by_any": "any"}
_SKIPS = {
    "NoSkip": "no_skip",
    "SkipToNext": "to_next",
    "SkipPastLast": "past_last",
    "SkipToFirst": "to_first",
    "SkipToLast": "to_last",
}


def conditions(pattern: Pattern) -> list[Expression]:
    """Return the conditions of a pattern in the order of their bits, those that are equal once."""
    found: list[Expression] = []
    for each in pattern.expressions:
        if each not in found:
            found.append(each)
    return found


def looks_back(condition: Expression) -> bool:
    """Tell whether a condition looks at earlier events of the match: the kernel evaluates it then."""
    return any(True for _ in looks(condition))


def told(node: MatchNode) -> dict[str, Any]:
    """Return the pattern as the kernel reads it."""
    pattern, names = node.pattern, node.pattern.names
    bits = conditions(pattern).index
    skip = node.after_match
    return {
        "steps": list(names),
        "elements": [_element(step, names, bits) for step in pattern.steps],
        "within": None if pattern.length is None else microseconds(pattern.length),
        "limit": {"most": node.max_partial, "then": node.when_full},
        "earlier": [bit for bit, each in enumerate(conditions(pattern)) if looks_back(each)],
        "skip": {
            "kind": _SKIPS[type(skip).__name__],
            "step": None if skip.of is None else names.index(skip.of),
        },
    }


def _element(step: Step, names: Sequence[str], bits: Callable[[Expression], int]) -> dict[str, Any]:
    within = None if step.within is None else microseconds(step.within)
    condition = None if step.condition is None else bits(step.condition)
    if step.negated:
        return {"not": step.contiguity, "condition": condition, "within": within}
    inside: dict[str, Any]
    if isinstance(step.what, Pattern):
        inside = {"elements": [_element(each, names, bits) for each in step.what.steps]}
    else:
        inside = {"step": names.index(step.what), "condition": condition}
    return {
        **inside,
        "contiguity": _CONTIGUITY[step.contiguity],
        "from": step.at_least,
        "to": step.at_most,
        "optional": step.is_optional,
        "greedy": step.is_greedy,
        "inner": _CONTIGUITY[step.inner or "followed_by"],
        "until": None if step.until is None else bits(step.until),
        "within": within,
    }


def state_of(node: MatchNode) -> str:
    """Return what makes another state: the steps, not their conditions nor how long they may take."""
    return _structure(node.pattern, conditions(node.pattern).index).text()


def _structure(pattern: Pattern, bits: Callable[[Expression], int]) -> Pattern:
    def numbered(condition: Expression | None) -> Expression | None:
        # Rows that wait hold what was true of them by these numbers.
        return condition and Call("expr", (Value(f"condition {bits(condition)}"),))

    steps = tuple(
        replace(
            step,
            what=_structure(step.what, bits) if isinstance(step.what, Pattern) else step.what,
            condition=numbered(step.condition),
            until=numbered(step.until),
            within=None,
        )
        for step in pattern.steps
    )
    return Pattern(steps)
