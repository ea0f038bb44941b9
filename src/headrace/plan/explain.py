"""The plan in words and as JSON: what runs where and why, what is promised, what may be lost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from headrace.declare.duration import spell
from headrace.declare.expr import Call, Expression, Given, Method
from headrace.declare.join import IntervalJoinNode
from headrace.declare.join_table import LookupJoinNode, VersionsNode
from headrace.declare.lookup import LookupNode
from headrace.declare.match import MatchNode
from headrace.declare.node import (
    DedupNode,
    Node,
    Port,
    Projection,
    SelectNode,
    SourceNode,
    StatefulNode,
    TransformNode,
    UnionNode,
    WhereNode,
    WindowNode,
    WithColumnsNode,
)
from headrace.declare.sink import Kafka
from headrace.declare.table_fold import FoldNode
from headrace.declare.table_join import NettedNode, TableJoinNode
from headrace.declare.table_node import (
    ChangesNode,
    GroupNode,
    TableSourceNode,
    TableStep,
    TopicTableNode,
    table_key,
    works_on_table,
)
from headrace.declare.top import TopNode, WindowTopNode
from headrace.declare.trigger import AtWatermark
from headrace.declare.view import View
from headrace.declare.window import Sliding
from headrace.plan.layers import Layers


def describe(layers: Layers, python: Mapping[Node, str] | None = None) -> dict[str, Any]:
    """Return the plan as a value that JSON can hold.

    `python` are the Python functions that Spark found in each step; None if it was not asked.
    """
    pipeline = layers.pipeline
    return {
        "pipeline": pipeline.name,
        "layers": layers.depth,
        # Rows that only pass through are brought into the order of their topics by one, too.
        "shuffles": layers.last,
        "state_stores": layers.depth,
        "sources": [_source(source) for source in layers.sources],
        "steps": [_step(layers, node, python) for node in pipeline.nodes if not isinstance(node, SourceNode)],
        "deliveries": [_delivery(layers, label) for label in pipeline.deliveries],
        "may_be_lost": losses(layers),
    }


def text(layers: Layers, python: Mapping[Node, str] | None = None) -> str:
    """Return the plan as a person reads it; `python` as in `describe`."""
    plan = describe(layers, python)
    stores = f"{plan['state_stores']} state store" if plan["state_stores"] else "no state"
    size = (
        _count(len(plan["sources"]), "source"),
        _count(plan["layers"], "stateful layer"),
        _count(plan["shuffles"], "shuffle"),
        stores,
    )
    lines = [f"pipeline {plan['pipeline']}: {', '.join(size)}", "", "sources"]
    for source in plan["sources"]:
        lines.append(f"  {source['name']}")
        lines.append(f"      topic {source['topic']} ({source['codec']}), from {source['start']}")
        if source["watermark"]:
            time = source["time"] or "of Kafka"
            lines.append(f"      event time {time}; watermark: {source['watermark']}")
        else:
            lines.append("      no watermark: no step needs event time")
        lines.append(
            f"      bad rows: {source['on_error']}; rows lost to retention: {source['on_data_loss']}"
        )
    if plan["steps"]:
        lines += ["", "steps"]
    for step in plan["steps"]:
        lines.append(f"  {step['name']}  [{step['runs']}]  from {', '.join(step['from'])}")
        lines.append(f"      {step['does']}")
        lines.append(f"      {step['why']}")
    lines += ["", "deliveries"]
    for delivery in plan["deliveries"]:
        lines.append(f"  {delivery['name']}  from {delivery['from']}  to {delivery['to']}")
        lines.append(f"      {delivery['guarantee']}: {delivery['by']}")
    lines += ["", "may be lost"]
    lines += [f"  {loss['what']}: {loss['how']}" for loss in plan["may_be_lost"]] or ["  nothing"]
    return "\n".join(lines) + "\n"


def losses(layers: Layers) -> list[dict[str, str]]:
    """Return what nobody delivers or what the user gave up; all of it is counted while running."""
    used = _used_ports(layers)
    found = [
        {
            "what": f"{node.name}.{port}",
            "how": f"rows later than {_limit(node)} are counted and dropped; deliver it to keep them",
        }
        for node in layers.programs
        for port in node.late_ports
        if port in node.ports and Port(node, port) not in used
    ]
    for source in layers.sources:
        if Port(source, "rejected") not in used and source.topic.on_error == "reject":
            found.append(
                {
                    "what": f"{source.name}.rejected",
                    "how": "rows that cannot be used are counted and dropped; deliver it to keep them",
                }
            )
        if source.topic.on_data_loss == "continue":
            found.append(
                {
                    "what": f"{source.name}",
                    "how": "rows that Kafka deletes before they are read are skipped (on_data_loss)",
                }
            )
    return found


def _limit(node: StatefulNode) -> str:
    if isinstance(node, IntervalJoinNode | LookupJoinNode):
        return "the watermark allows" if not node.lateness else "the join's lateness"
    if isinstance(node, MatchNode):
        return "the watermark allows"
    return "their window"


def _used_ports(layers: Layers) -> set[Port]:
    used = {delivery.port for delivery in layers.pipeline.deliveries.values()}
    used |= {parent for node in layers.pipeline.nodes for parent in node.parents}
    return used


def _source(source: SourceNode) -> dict[str, Any]:
    topic = source.topic
    start = topic.start.isoformat() if isinstance(topic.start, datetime) else topic.start
    return {
        "name": source.name,
        "where": source.where,
        "topic": topic.name,
        "codec": topic.codec,
        "key": topic.key,
        "time": topic.time,
        "start": start,
        "watermark": _watermark(source),
        "on_error": "leave through .rejected" if topic.on_error == "reject" else "stop the pipeline",
        "on_data_loss": "stop the pipeline" if topic.on_data_loss == "fail" else "are skipped",
        "columns": list(source.columns),
    }


def _watermark(source: SourceNode) -> str | None:
    if source.watermark is None:
        return None
    if isinstance(source, TableSourceNode):
        return (
            f"{source.watermark.text().partition(', idle')[0]}; holds nothing up once it is read to its end"
        )
    return source.watermark.text()


def _step(layers: Layers, node: Node, python: Mapping[Node, str] | None) -> dict[str, Any]:
    name = layers.pipeline.step_names[node]
    runs, why = _runs(layers, node, python)
    return {
        "name": name,
        "verb": node.verb,
        "where": node.where,
        "from": [_port(layers, parent) for parent in node.parents],
        "does": does(node),
        "runs": runs,
        "why": why,
        "columns": list(node.columns) if node.columns is not None else None,
        **({"table_key": list(key)} if (key := table_key(Port(node))) is not None else {}),
    }


def _runs(layers: Layers, node: Node, python: Mapping[Node, str] | None) -> tuple[str, str]:
    slow = _python(node) if python is None else python.get(node)
    if isinstance(node, StatefulNode):
        return _runs_in_kernel(layers, node, slow)
    stage = layers.stage(Port(node))
    place = "before" if stage == 0 else "after" if stage == layers.last else "between"
    place += " the operators" if layers.depth > 1 else " the operator"
    if isinstance(node, LookupNode):
        again = (
            "said to find the same again"
            if node.repeatable
            else "a replayed epoch asks again, and may find another"
        )
        return "kernel", f"{place}: {node.how_asked()}; {again}"
    if isinstance(node, UnionNode):
        return "native", f"{place}: rows of both go the same way, nothing is copied"
    if slow:
        return "python", f"{place}: {slow} is Python, every row goes through a worker process"
    if python is None and _hidden(node):
        return "native or python", f"{place}: whether it runs Python is known when Spark analyses it"
    return "native", f"{place}: Catalyst expressions, compiled by Spark"


def _runs_in_kernel(layers: Layers, node: StatefulNode, slow: str | None) -> tuple[str, str]:
    if isinstance(node, TableStep) or (isinstance(node, LookupJoinNode) and node.current):
        why = f"layer {layers.layer(node) + 1}: Spark has no tables that change; keeps {node.grows}"
        return ("kernel, python", f"{why}; before it, {slow} is Python") if slow else ("kernel", why)
    upstream = ", ".join(source.name for source in node.sources)
    how = "state by key group"
    if isinstance(node, TopNode) or (isinstance(node, WindowNode) and not isinstance(node.window, Sliding)):
        how = f"combined before the shuffle, {how}"
    if isinstance(node, TopNode):
        how = f"{how}, {_kept(node)}"
    why = (
        f"layer {layers.layer(node) + 1}: Spark's own operators drop late rows unseen; "
        f"time is the watermark of {upstream}; {how}"
    )
    if slow:
        why = f"{why}; before it, {slow} is Python, every row goes through a worker process"
    return "kernel, python" if slow else "kernel", why


def _python(node: Node) -> str | None:
    """Return the Python functions that the declaration shows."""
    names = sorted({udf.name for expression in _expressions(node) for udf in expression.udfs()})
    return ", ".join(names) or None


def _hidden(node: Node) -> bool:
    """Tell whether only Spark can know what is computed: in a function of frames, in a real Column."""
    return isinstance(node, TransformNode) or any(
        isinstance(part, Given) for expression in _expressions(node) for part in expression.walk()
    )


def _expressions(node: Node) -> tuple[Expression, ...]:
    if isinstance(node, WhereNode):
        return (node.condition,)
    if isinstance(node, SelectNode | WithColumnsNode):
        return tuple(each.expression for each in node.projections)
    return node.expressions if isinstance(node, StatefulNode) else ()


def does(node: Node) -> str:  # noqa: C901, PLR0911, PLR0912 - one for each kind of step
    """Return what a step does, in words: its verb and its expressions."""
    if isinstance(node, WhereNode):
        return f"where {node.condition.text()}"
    if isinstance(node, SelectNode):
        return "select " + ", ".join(_named(each.name, _bare(each.expression)) for each in node.projections)
    if isinstance(node, WithColumnsNode):
        return "with " + ", ".join(_named(each.name, _bare(each.expression)) for each in node.projections)
    if isinstance(node, TransformNode):
        return f"transform by {getattr(node.function, '__name__', 'a function')}"
    if isinstance(node, WindowNode):
        by = f" by {', '.join(node.keys)}" if node.keys else " of all rows"
        return f"window {node.window.text()}{by}: {_made(node)}{_panes(node)}"
    if isinstance(node, TopNode):
        of = f" of each {', '.join(node.keys)}" if node.keys else " of all rows"
        return f"{node.ranking.text()}{of}{_columns(node)}; changes after every epoch"
    if isinstance(node, IntervalJoinNode):
        return _joins(node)
    if isinstance(node, LookupJoinNode):
        return _joins_table(node)
    if isinstance(node, LookupNode):
        return node.text()
    if isinstance(node, MatchNode):
        by = f" by {', '.join(node.keys)}" if node.keys else " of all rows"
        order = f", by {', '.join(each.text() for each in node.order)}" if node.order else ""
        return f"match{by}: {node.text()}; in the order of event time{order}; holds {node.grows}"
    if isinstance(node, VersionsNode):
        return f"every record as a version of its {', '.join(node.keys)}"
    if isinstance(node, TableStep):
        return _of_table(node)
    if isinstance(node, DedupNode):
        return f"the first row by {', '.join(node.keys)} within {spell(node.within)}"
    return node.verb


def _made(node: WindowNode) -> str:
    if isinstance(node, WindowTopNode):
        return f"{node.ranking.text()}{_columns(node)}"
    return ", ".join(_named(each.name, each.text()) for each in node.aggregates)


def _columns(node: WindowTopNode | TopNode) -> str:
    """Say which columns of the rows are kept, and go through the shuffle."""
    shown = node.ranking.shown
    if shown is None:
        return " with all columns"
    return f" with {', '.join(_column(each) for each in shown)}" if shown else ""


def _column(shown: Projection) -> str:
    made = shown.expression
    plain = isinstance(made, Call) and made.function == "col" and made.paths() == {(shown.name,)}
    return shown.name if plain else _named(shown.name, _bare(made))


def _kept(node: TopNode) -> str:
    """Say how large the state may get."""
    rows = f"{_count(node.ranking.rows, 'row')} a key"
    if not node.keys:
        return _count(node.ranking.rows, "row")
    if node.keep is None:
        return f"{rows}, which grows with the number of keys (keep= bounds it)"
    return f"{rows} until it has had no row for {spell(node.keep)}"


def _of_table(node: TableStep) -> str:
    if isinstance(node, TableJoinNode | NettedNode):
        return node.text()
    by = f" by {', '.join(node.keys)}" if node.keys else " of all rows"
    if isinstance(node, TopicTableNode):
        return f"table{by}: the last record in the topic's order, a tombstone deletes"
    if isinstance(node, GroupNode):
        made = ", ".join(_named(each.name, each.text()) for each in node.aggregates)
        goes = "; a group without rows is deleted" if works_on_table(node) else ""
        return f"table of groups{by}: {made}{goes}"
    if isinstance(node, FoldNode):
        made = ", ".join(_named(each.name, _bare(each.expression)) for each in node.steps)
        begin = ", ".join(_named(each.name, _bare(each.expression)) for each in node.initial)
        return f"fold{by}: {made}; from {begin}"
    changes = isinstance(node, ChangesNode)
    return (
        f"changes{by}: op, before, after, sequence" if changes else f"table{by}: the last row by event time"
    )


def _panes(node: WindowNode) -> str:
    """Say when panes are given where that is not simply once, at the watermark."""
    told = []
    if node.trigger != AtWatermark():
        told.append(node.trigger.text())
    if node.lateness:
        told.append(f"late rows up to {spell(node.lateness)}")
    whole = _lateness(node)
    if whole != node.lateness:
        told.append(f"lateness along the chain {spell(whole)}")
    if node.accumulate != "accumulating":
        told.append(node.accumulate)
    return f"; panes {', '.join(told)}" if told else ""


def _joins(node: IntervalJoinNode) -> str:
    """Say what meets, and for how long rows are held."""
    pairs = zip(node.keys, node.right_keys, strict=True)
    by = ", ".join(_named(left, right) for left, right in pairs)
    left, right = (spell(each) for each in node.kept)
    told = f"{node.how} join by {by}, {node.text()}"
    told += f"; holds left rows for {left}, right rows for {right} of event time"
    if node.lateness:
        told += f"; late rows up to {spell(node.lateness)}"
    whole = _lateness(node)
    return told if whole == node.lateness else f"{told}; lateness along the chain {spell(whole)}"


def _joins_table(node: LookupJoinNode) -> str:
    """Say which row of the table is met, and what is held for that."""
    pairs = zip(node.keys, node.right_keys, strict=True)
    by = ", ".join(_named(left, right) for left, right in pairs)
    told = f"{node.how} join by {by} with {node.table}, {node.text()}; holds {node.grows}"
    if node.lateness:
        told += f"; late rows up to {spell(node.lateness)}"
    whole = _lateness(node)
    return told if whole == node.lateness else f"{told}; lateness along the chain {spell(whole)}"


def _lateness(node: Node) -> timedelta:
    """Add up how late a row may be in the steps on the longest way to a step, itself included."""
    before = max((_lateness(parent.node) for parent in node.parents), default=timedelta(0))
    return (
        before + node.lateness if isinstance(node, WindowNode | IntervalJoinNode | LookupJoinNode) else before
    )


def _bare(expression: Expression) -> str:
    if isinstance(expression, Method) and expression.method in {"alias", "name"}:
        return expression.subject.text()
    return expression.text()


def _named(name: str, what: str) -> str:
    return name if name == what else f"{name} = {what}"


def _delivery(layers: Layers, label: str) -> dict[str, Any]:
    delivery = layers.pipeline.deliveries[label]
    sink = delivery.sink
    return {
        "name": label,
        "where": delivery.where,
        "from": _port(layers, delivery.port),
        "to": sink.text() + ("" if table_key(delivery.port) is None else ", upserts and tombstones"),
        "guarantee": sink.guarantee,
        "by": _by(sink),
    }


def _by(sink: object) -> str:
    if isinstance(sink, View):
        return "one transaction per epoch in the store of views, with the epoch's number in it"
    if isinstance(sink, Kafka) and sink.guarantee == "exactly-once":
        return "one transaction per task and epoch with the epoch's marker in it; read it with read_committed"
    return "acknowledged before the epoch is committed; a replayed epoch sends its rows again"


def _port(layers: Layers, port: Port) -> str:
    name = layers.pipeline.step_names[port.node]
    return name if port.name == "out" else f"{name}.{port.name}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
