"""Patterns and runs of them that Hypothesis makes up, in the form of transcripts."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.patterns import declared as words
from tests.patterns.corpus import Case, Epoch, made
from tests.patterns.declared import Declared, Pattern
from tests.transcripts.declared import END, SECOND, Row

_CONDITIONS = [".where(a)", ".where(b)", ".where(c)", ".where(\"v in ('a', 'b')\")", '.where(b, "n > 1")', ""]
_INNER = ["", "", ".consecutive()", ".allow_combinations()"]
_VERBS = ["next", "followed_by", "followed_by", "followed_by_any"]
_WITHIN = ["", "", '.within("4 seconds")', '.within("9 seconds")']
_PREVIOUS = ["", "", "", '.within("3 seconds", since="previous")']
_TIMES = ["", "", "", ".times(2)", ".times(1, 2)", ".times_or_more(2)", ".one_or_more()", ".one_or_more()"]
_NEGATIONS = ["", "", "", "", "not_next", "not_followed_by"]


@st.composite
def _quantifier(draw: Callable[..., Any], *, group: bool) -> str:
    times = draw(st.sampled_from(_TIMES))
    made_of = times
    if times:
        inner = draw(st.sampled_from(_INNER))
        made_of += inner
        if not group and inner != ".allow_combinations()" and draw(st.booleans()):
            made_of += ".greedy()"
        if "more" in times and draw(st.integers(0, 3)) == 0:
            made_of += '.until("n > 2")'
    return made_of + (".optional()" if draw(st.integers(0, 4)) == 0 else "")


class _Names:
    def __init__(self) -> None:
        self.left = list("pqrstu")

    def next(self) -> str:
        return self.left.pop(0)


@st.composite
def _element(draw: Callable[..., Any], names: _Names, depth: int) -> tuple[str, str]:
    """Return what stands in the brackets of a verb, and what is said of it behind them."""
    if depth < 1 and draw(st.integers(0, 4)) == 0:
        inside = draw(_sequence(names, depth + 1, 2))
        if all(step.skippable for step in made(f"Pattern.{inside}", vars(words)).steps):
            inside = inside.replace(".optional()", "")
        return f"Pattern.{inside}", draw(_quantifier(group=True))
    condition = draw(st.sampled_from(_CONDITIONS))
    return f'"{names.next()}"', condition + draw(_quantifier(group=False))


@st.composite
def _sequence(draw: Callable[..., Any], names: _Names, depth: int, most: int) -> str:
    what, said = draw(_element(names, depth))
    text = f"begin({what}){said}"
    for number in range(draw(st.integers(0, most - 1))):
        negation = draw(st.sampled_from(_NEGATIONS))
        optional = ".optional()" in said or what.startswith("Pattern")
        relaxed_greedy = ".greedy()" in said and ".consecutive()" not in said
        if optional or (negation == "not_next" and relaxed_greedy):
            negation = ""
        if negation:
            text += f'.{negation}("n{depth}{number}"){draw(st.sampled_from(_CONDITIONS[:5]))}'
        before = said
        what, said = draw(_element(names, depth))
        if ".greedy()" in before and ".optional()" in said:
            # Refused at the end: nobody knows when it is reached.
            said = said.replace(".greedy()", "")
        if negation:
            said = said.replace(".optional()", "")
            what, said = (f'"{names.next()}"', ".where(c)") if what.startswith("Pattern") else (what, said)
        text += f".{draw(st.sampled_from(_VERBS))}({what}){said}"
        if depth == 0 and not what.startswith("Pattern"):
            text += draw(st.sampled_from(_PREVIOUS))
    return text


@st.composite
def patterns(draw: Callable[..., Any]) -> str:
    text = f"Pattern.{draw(_sequence(_Names(), 0, 3))}"
    within = draw(st.sampled_from(_WITHIN))
    last = made(text, vars(words)).steps[-1]
    if draw(st.integers(0, 5)) == 0 and isinstance(last.what, str) and not (last.optional or last.greedy):
        verb = draw(st.sampled_from(["not_next", "not_followed_by"]))
        text += f'.{verb}("z"){draw(st.sampled_from(_CONDITIONS[:3]))}'
        within = within or '.within("5 seconds")'
    return text + within


AFTER = ["NoSkip()", "NoSkip()", "SkipToNext()", "SkipPastLast()", 'SkipToFirst("{}")', 'SkipToLast("{}")']
_EVENT = st.tuples(
    st.sampled_from("kkkkj"),
    st.sampled_from("aabbcx"),
    st.integers(0, 3),
    st.integers(-3, 8),
    st.integers(0, 1),
)
# Events, and by how many halves of a second W grows, None for no tick.
_EPOCH = st.tuples(st.lists(_EVENT, min_size=2, max_size=5), st.one_of(st.none(), st.integers(0, 10)))


@st.composite
def made_up(draw: Callable[..., Any]) -> Case:
    text = draw(patterns())
    pattern: Pattern = made(text, vars(words))
    after = draw(st.sampled_from(AFTER)).format(draw(st.sampled_from(pattern.names)))
    order_by = draw(st.sampled_from([None, None, "n"]))
    chained = draw(st.booleans())
    declared = Declared(pattern, made(after, vars(words)), order_by, chained)
    return Case("made up", "", text, declared, after, _epochs(draw(st.lists(_EPOCH, min_size=2, max_size=3))))


def _epochs(run: list[Any]) -> tuple[Epoch, ...]:
    """Return a run's epochs; the end of time comes last, alone."""
    epochs, watermark, number = [], 0, 0
    offsets: dict[int, int] = {}
    for told, tick in run:
        rows = []
        for key, letter, n, halves, partition in told:
            number += 1
            offset = offsets.get(partition, 0)
            offsets[partition] = offset + 1
            at = max(0, watermark + halves * SECOND // 2)
            values = {"v": letter, "id": f"{letter}{number}", "n": n}
            rows.append(Row(key, at, (0, partition, offset), values))
        watermark += 0 if tick is None else tick * SECOND // 2
        epochs.append(Epoch(tuple(rows), None if tick is None else watermark))
    return (*epochs, Epoch((), END))
