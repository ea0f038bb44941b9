"""Many cases in one query: those whose processing times can be taken from one timeline run side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.transcripts.corpus import Case, Epoch
from tests.transcripts.declared import Windowed, periods

SIZE = 8
"""Cases to a query, a source and a step or two each: Spark plans twice as many more than twice as long."""


@dataclass
class Pack:
    """A timeline of epochs (processing time, None for no tick), and where on it each case has its own."""

    timeline: list[int | None]
    members: list[tuple[Case, list[int]]] = field(default_factory=list)

    def at(self, place: int) -> list[Epoch | None]:
        """Return the epochs that the cases have here, None for those that have none."""
        return [
            case.epochs[places.index(place)] if place in places else None for case, places in self.members
        ]


def packs(cases: Sequence[Case], size: int = SIZE) -> list[Pack]:
    """Return packs that hold every case once."""
    made: list[Pack] = []
    by_clock = [case for case in cases if _periods(case)]
    for case in sorted(by_clock, key=lambda case: -len(case.epochs)):
        for pack in made:
            places = _embedded(case, pack.timeline)
            if places is not None and len(pack.members) < size:
                pack.members.append((case, places))
                break
        else:
            made.append(Pack([epoch.clock for epoch in case.epochs], [(case, list(range(len(case.epochs))))]))
    others = sorted((case for case in cases if not _periods(case)), key=lambda case: len(case.epochs))
    for start in range(0, len(others), size):
        members = others[start : start + size]
        timeline: list[int | None] = [None] * max(len(case.epochs) for case in members)
        made.append(Pack(timeline, [(case, list(range(len(case.epochs)))) for case in members]))
    return made


def _periods(case: Case) -> set[int]:
    steps = [step for step in case.declared() if isinstance(step, Windowed)]
    return set().union(*(periods(step.trigger) for step in steps))


def _embedded(case: Case, timeline: list[int | None]) -> list[int] | None:
    """Return where a case's epochs are on a timeline, if the ticks between them mean nothing to it."""
    places: list[int] = []
    for epoch in case.epochs:
        after = places[-1] + 1 if places else 0
        place = next((at for at in range(after, len(timeline)) if timeline[at] == epoch.clock), None)
        if place is None:
            return None
        places.append(place)
    own = set(places)
    for place in range(places[-1]):
        if place in own or timeline[place] is None:
            continue
        before = max((at for at in places if at < place), default=None)
        if before is None or _ends_between(case, case.epochs[places.index(before)], timeline[place]):
            return None
    return places


def _ends_between(case: Case, epoch: Epoch, until: int) -> bool:
    """Tell whether one of the case's periods ends after its epoch and not after `until`."""
    return epoch.clock is None or any(until // period > epoch.clock // period for period in _periods(case))
