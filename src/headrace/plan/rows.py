"""Rows on their way through stateless steps: a struct column, and whether it is still there.

A source is read once, whatever its rows lead to. So the steps are not frames of their
own: each stream is a struct column of one wide frame, with a second column that tells
whether the row is still alive in it. A failing expression makes the row a rejection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StructType

from headrace.declare.expr import Expression
from headrace.declare.node import (
    Node,
    SelectNode,
    TransformNode,
    UnionNode,
    WhereNode,
    WithColumnsNode,
)
from headrace.errors import PlanError
from headrace.plan import repeatable
from headrace.plan.columns import to_column
from headrace.plan.kernel import Analysed, Kernel


@dataclass(frozen=True)
class Rows:
    """Rows of one stream inside a wide frame: names of its columns, and the struct's schema.

    `time` is the column of the event time, which stays what it is whatever becomes of the struct.
    """

    struct: str
    alive: str
    schema: StructType
    time: str = ""
    before: Rows | None = None
    """Of a table: what its rows were before, as rows of the same schema; these are what they are now."""
    change: str = ""
    """Of a table that is as it came into the stage: the column of changes that both are from."""

    def at(self, time: str) -> Rows:
        """Return the same rows with an event time."""
        return replace(self, time=time)


@dataclass(frozen=True)
class Rejection:
    """A column that holds why a step failed on a row, else null."""

    step: str
    reason: str
    of: Rows


@dataclass
class Frame:
    """A wide frame that grows by two columns a step.

    `promises` are the steps that a replay must compute again as they were, see `repeatable.promises`.
    """

    kernel: Kernel
    read: DataFrame
    promises: Mapping[Node, str] = field(default_factory=dict)
    transformed: dict[Node, list[str]] = field(default_factory=dict)
    """The columns that each transform made anew; of other steps the declaration tells."""
    taken: int = 0
    waiting: dict[str, Column] = field(default_factory=dict)
    """Columns that are still to be added: all that do not read each other are one projection."""

    @property
    def frame(self) -> DataFrame:
        """The frame with all columns."""
        if self.waiting:
            self.read, self.waiting = self.read.withColumns(self.waiting), {}
        return self.read

    def add(self, **columns: Column) -> None:
        """Add columns; later ones may use earlier calls' columns only."""
        # Every projection costs each epoch's planning something for each column that is there.
        if any(self.kernel.reads(column, list(self.waiting)) for column in columns.values()):
            self.read = self.frame
        self.waiting |= columns

    def fresh(self, kind: str) -> str:
        """Return a column name that nobody has."""
        self.taken += 1
        return f"__{kind}{self.taken}"

    def rows(self, struct: Column, alive: Column, schema: StructType) -> Rows:
        """Keep a struct and its liveness as columns."""
        rows = Rows(self.fresh("row"), self.fresh("alive"), schema)
        self.add(**{rows.struct: struct, rows.alive: F.coalesce(alive, F.lit(False))})
        return rows

    def analyse(self, rows: Rows, expressions: Sequence[tuple[str, Expression]], where: str) -> Analysed:
        """Let Spark look at named expressions over rows."""
        columns = [
            to_column(expression, rows.schema.names, where).alias(name) for name, expression in expressions
        ]
        return self.kernel.analyse(rows.schema, columns, where)

    def analyse_step(self, rows: Rows, expressions: Sequence[tuple[str, Expression]], node: Node) -> Analysed:
        """Let Spark look at the expressions of a step, which a replay may have to repeat."""
        analysed = self.analyse(rows, expressions, node.where)
        self._learn(node, analysed)
        return analysed

    def _learn(self, node: Node, analysed: Analysed) -> None:
        self.kernel.python[node] = ", ".join(analysed.python)
        if analysed.chance is not None and node in self.promises:
            raise repeatable.refused(analysed.chance, self.promises[node], node.where)

    def guarded(
        self, rows: Rows, value: Column, *, may_fail: bool, step: str
    ) -> tuple[Column, Column, Rejection | None]:
        """Return the value for living rows, whether it was computed, and the rejection if it may fail."""
        alive = F.col(rows.alive)
        if not may_fail:
            return F.when(alive, value), alive, None
        tried = self.fresh("tried")
        self.add(**{tried: F.when(alive, self.kernel.attempt(value))})
        reason = self.fresh("reason")
        self.add(**{reason: F.col(tried)["error"]})
        return F.col(tried)["value"], alive & F.col(reason).isNull(), Rejection(step, reason, rows)

    def step(
        self, node: Node, rows: Rows, name: str, like: StructType | None = None
    ) -> tuple[Rows, list[Rejection]]:
        """Take rows through a stateless step."""
        if isinstance(node, WhereNode):
            return self._where(node, rows, name)
        if isinstance(node, SelectNode):
            chosen = [(each.name, each.expression) for each in node.projections]
            return self._project(rows, self.analyse_step(rows, chosen, node), name)
        if isinstance(node, WithColumnsNode):
            return self._with_columns(node, rows, name)
        if isinstance(node, TransformNode):
            return self._transform(node, rows, name)
        if isinstance(node, UnionNode):
            return self._aligned(node, rows, like or rows.schema), []
        raise TypeError(f"{node.verb} is not a stateless step")

    def _where(self, node: WhereNode, rows: Rows, name: str) -> tuple[Rows, list[Rejection]]:
        analysed = self.analyse_step(rows, [("condition", node.condition)], node)
        kind = analysed.schema[0].dataType
        if not isinstance(kind, BooleanType):
            raise PlanError(
                f"the condition {node.condition.text()} is {kind.simpleString()}, not true or false",
                where=node.where,
                cure="compare it with something: F.col(...) > 0",
            )
        return self._filtered(rows, analysed.over(F.col(rows.struct))[0], name, may_fail=analysed.may_fail())

    def _filtered(
        self,
        rows: Rows,
        condition: Column,
        name: str,
        *,
        may_fail: bool,
    ) -> tuple[Rows, list[Rejection]]:
        kept, computed, rejection = self.guarded(rows, condition, may_fail=may_fail, step=name)
        alive = self.fresh("alive")
        self.add(**{alive: F.coalesce(computed & kept, F.lit(False))})
        return Rows(rows.struct, alive, rows.schema), [rejection] if rejection else []

    def _project(self, rows: Rows, analysed: Analysed, name: str) -> tuple[Rows, list[Rejection]]:
        columns = analysed.over(F.col(rows.struct))
        struct = F.struct(
            *(column.alias(field.name) for column, field in zip(columns, analysed.schema, strict=True))
        )
        made, computed, rejection = self.guarded(rows, struct, may_fail=analysed.may_fail(), step=name)
        return self.rows(made, computed, analysed.schema), [rejection] if rejection else []

    def _with_columns(self, node: WithColumnsNode, rows: Rows, name: str) -> tuple[Rows, list[Rejection]]:
        from headrace.declare.expr import column

        new = {each.name: each.expression for each in node.projections}
        old = [(field.name, new.pop(field.name, column(f"`{field.name}`"))) for field in rows.schema]
        return self._project(rows, self.analyse_step(rows, [*old, *new.items()], node), name)

    def _transform(self, node: TransformNode, rows: Rows, name: str) -> tuple[Rows, list[Rejection]]:
        analysed, taken = self.kernel.transform(rows.schema, node.function, node.where)
        self._learn(node, analysed)
        self.transformed[node] = list(taken.made())
        if node.declared is not None and list(node.declared) != analysed.schema.names:
            raise PlanError(
                f"the function given to transform makes the columns {', '.join(analysed.schema.names)}, "
                f"and {', '.join(node.declared)} were declared",
                where=node.where,
                cure="declare the columns that it makes, in their order",
            )
        rejections: list[Rejection] = []
        condition = taken.condition(F.col(rows.struct)._jc)
        if condition is not None:
            rows, rejections = self._filtered(
                rows, Column(condition), name, may_fail=bool(taken.conditionMayFail())
            )
        made, more = self._project(rows, analysed, name)
        return made, [*rejections, *more]

    def _aligned(self, node: Node, rows: Rows, like: StructType) -> Rows:
        """Bring the columns into the order of the union's first stream."""
        for wanted in like:
            mine = next((each for each in rows.schema if each.name == wanted.name), None)
            if mine is None or len(like) != len(rows.schema):
                raise PlanError(
                    f"union: the columns are {', '.join(like.names)} on one side "
                    f"and {', '.join(rows.schema.names)} on the other",
                    where=node.where,
                    cure="select the same columns on both sides",
                )
            if mine.dataType.simpleString() != wanted.dataType.simpleString():
                raise PlanError(
                    f"union: {wanted.name!r} is {wanted.dataType.simpleString()} on one side "
                    f"and {mine.dataType.simpleString()} on the other",
                    where=node.where,
                    cure=f"cast one of them: .with_columns({wanted.name}=F.col({wanted.name!r}).cast(...))",
                )
        if rows.schema.names == like.names:
            return rows
        struct = F.struct(*(F.col(rows.struct)[name].alias(name) for name in like.names))
        alive = F.col(rows.alive)
        return self.rows(F.when(alive, struct), alive, StructType([rows.schema[name] for name in like.names]))
