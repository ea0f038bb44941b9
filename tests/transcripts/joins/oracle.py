"""The join of two streams by its definition: every row against every other, in plain Python."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.transcripts.declared import NONE, SECOND, Row, micros

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class Join:
    """A declared join; bounds are as in a pipeline."""

    how: str = "inner"
    within: tuple[str, str] = ("0 seconds", "10 seconds")
    lateness: str = "0 seconds"

    @property
    def bounds(self) -> tuple[int, int]:
        lower, upper = (
            -micros(bound[1:]) if bound.startswith("-") else micros(bound) for bound in self.within
        )
        return lower, upper


@dataclass(frozen=True)
class Result:
    """A row of each side, or of one of them alone, and when the two are for steps behind the join."""

    time: int
    left: Row | None
    right: Row | None

    @property
    def order(self) -> Any:
        places = [(-1, 0, 0) if row is None else row.position for row in (self.left, self.right)]
        return self.time, *places


@dataclass
class Outcome:
    out: list[Result] = field(default_factory=list)
    late: tuple[list[tuple[Row, float]], list[tuple[Row, float]]] = field(default_factory=lambda: ([], []))
    used: int = 0


class Joined:
    """The step: rows are held as long as a row that is not late may match them."""

    def __init__(self, declared: Join, *, chained: bool = False) -> None:
        self.how, self.chained = declared.how, chained
        self.lower, self.upper = declared.bounds
        self.lateness = micros(declared.lateness)
        self.watermark = NONE
        self.held: tuple[list[Row], list[Row]] = ([], [])
        self.matched: tuple[set[Row], set[Row]] = (set(), set())

    def epoch(self, left: Sequence[Row], right: Sequence[Row], watermark: int | None = None) -> Outcome:
        before = self.watermark
        self.watermark = before if watermark is None else max(before, watermark)
        judge = before if self.chained else self.watermark
        outcome = Outcome()
        fresh: tuple[list[Row], list[Row]] = ([], [])
        for side, rows in enumerate((left, right)):
            for row in rows:
                if judge >= row.time + 1 + self.lateness:
                    outcome.late[side].append((row, (judge - row.time) / SECOND))
                else:
                    fresh[side].append(row)
                    outcome.used += 1
        for one in [*self.held[LEFT], *fresh[LEFT]]:
            for other in [*self.held[RIGHT], *fresh[RIGHT]]:
                if (one in fresh[LEFT] or other in fresh[RIGHT]) and self._match(one, other):
                    self._met(one, other, outcome)
        for side in (LEFT, RIGHT):
            self.held[side].extend(fresh[side])
            self._let_go(side, outcome)
        outcome.out.sort(key=lambda result: result.order)
        return outcome

    def _match(self, left: Row, right: Row) -> bool:
        near = left.time + self.lower <= right.time <= left.time + self.upper
        return near and left.key is not None and left.key == right.key

    def _met(self, left: Row, right: Row, outcome: Outcome) -> None:
        if self.how == "semi" and left not in self.matched[LEFT]:
            outcome.out.append(self._alone(LEFT, left))
        if self.how not in {"semi", "anti"}:
            outcome.out.append(Result(max(left.time, right.time), left, right))
        self.matched[LEFT].add(left)
        self.matched[RIGHT].add(right)

    def _let_go(self, side: int, outcome: Outcome) -> None:
        reach = self.upper if side == LEFT else -self.lower
        leaves = {"left", "full", "anti"} if side == LEFT else {"right", "full"}
        for row in list(self.held[side]):
            if self.watermark >= row.time + reach + 1 + self.lateness:
                self.held[side].remove(row)
                if row not in self.matched[side] and self.how in leaves:
                    outcome.out.append(self._alone(side, row))
                self.matched[side].discard(row)

    def _alone(self, side: int, row: Row) -> Result:
        if side == LEFT:
            return Result(row.time + max(0, self.upper), row, None)
        return Result(row.time + max(0, -self.lower), None, row)
