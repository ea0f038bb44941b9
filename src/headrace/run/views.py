"""The store of views as a run needs it: what is in it, and whose history it holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    FractionalType,
    IntegralType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from headrace.declare.postgres import Address
from headrace.declare.view import View
from headrace.errors import CheckpointError, PlanError
from headrace.run import postgres
from headrace.run.failure import asked

if TYPE_CHECKING:
    from headrace.plan.back import Outlet
    from headrace.plan.kernel import Kernel
    from headrace.plan.layers import Layers
    from headrace.run.manifest import Manifest
    from headrace.run.settings import Settings

_KINDS: tuple[tuple[type[DataType] | tuple[type[DataType], ...], str], ...] = (
    (IntegralType, "WHOLE"),
    (DecimalType, "DECIMAL"),
    (FractionalType, "NUMBER"),
    (BooleanType, "TRUTH"),
    (StringType, "TEXT"),
    ((TimestampType, TimestampNTZType, DateType), "TIME"),
)
"""How a column of such a type is kept, the first that fits; all others are JSON."""
_LONGEST_NAME = 63


def specification(layers: Layers, outlets: Iterable[Outlet], settings: Settings) -> dict[str, Any] | None:
    """Return what the kernel's delivery needs to know of views; None where there are none."""
    found = []
    for ordinal, outlet in enumerate(outlets):
        sink = layers.pipeline.deliveries[outlet.delivery].sink if outlet.delivery is not None else None
        if isinstance(sink, View):
            columns = [{"name": field.name, "kind": _kind(field.dataType)} for field in outlet.schema]
            view = {"ordinal": ordinal, "name": sink.name, "key": list(sink.key), "columns": columns}
            found.append({**view, "table": outlet.key is not None})
    return store_of(layers.pipeline.name, settings, found) if found else None


def store_of(pipeline: str, settings: Settings, views: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return where a pipeline's views are, and how the kernel gets there."""
    store = settings.views_of(pipeline)
    if isinstance(store, Address):
        _check_names(pipeline, views)
        return {"place": str(store), "connection": postgres.for_jvm(store, "the views"), "views": [*views]}
    return {"place": str(store), "views": [*views]}


def _check_names(pipeline: str, views: Iterable[Mapping[str, Any]]) -> None:
    """Refuse names that PostgreSQL would cut off, so that two could become one."""
    names = [("pipeline", pipeline), *(("view", view["name"]) for view in views)]
    names += [("column", column["name"]) for view in views for column in view["columns"]]
    for what, name in names:
        if len(name.encode()) > _LONGEST_NAME:
            raise PlanError(
                f"the {what} {name!r} has a name of more than {_LONGEST_NAME} bytes, "
                "which PostgreSQL would cut off",
                cure="give it a shorter name, or keep the views in a folder (setting views.store)",
            )


def known(manifest: Manifest, delivery: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the views that the checkpoint writes to from now on, or has written to."""
    return tuple(sorted({*manifest.views, *(view["name"] for view in delivery["views"]["views"])}))


def check_history(kernel: Kernel, delivery: Mapping[str, Any], manifest: Manifest, *, begun: bool) -> None:
    """Compare the views' epoch with the checkpoint: refuse to write over another history unasked.

    A table that has rows already cannot become a view: of its rows only changes come from now on.
    """
    views, text = kernel.jvm.headrace.deliver.Views, json.dumps({**delivery, "epoch": 0})
    found = json.loads(asked(lambda: views.look(text)))
    place = delivery["views"]["place"]
    if found["checkpoint"] not in {None, manifest.checkpoint}:
        raise CheckpointError(
            f"the views in {place} are those of another history, {found['checkpoint']} "
            f"(up to epoch {found['epoch']}): was its checkpoint deleted?",
            cure="restore that checkpoint, or begin anew: headrace reset FILE --outputs replace",
        )
    if found["checkpoint"] is None and manifest.views:
        raise CheckpointError(
            f"the views in {place} are gone, and the checkpoint has delivered to them",
            cure="restore them, or begin anew: headrace reset FILE --outputs replace",
        )
    for view in delivery["views"]["views"]:
        if begun and view["table"] and view["name"] not in manifest.views:
            raise CheckpointError(
                f"the view {view['name']!r} is new, and the table that it shows has rows already: "
                "it would show those only that change",
                cure="begin anew: headrace reset FILE --outputs replace",
            )
    asked(lambda: views.adopt(text))


def clear(kernel: Kernel, layers: Layers, manifest: Manifest, settings: Settings, *, had: bool) -> None:
    """Empty the pipeline's views, if it has or had any."""
    store = settings.views_of(layers.pipeline.name)
    has = any(isinstance(delivery.sink, View) for delivery in layers.pipeline.deliveries.values())
    if store.exists() if isinstance(store, Path) else has or had:
        specification = store_of(layers.pipeline.name, settings)
        text = {"pipeline": manifest.pipeline, "checkpoint": manifest.checkpoint, "views": specification}
        asked(lambda: kernel.jvm.headrace.deliver.Views.clear(json.dumps(text)))
        asked(lambda: kernel.jvm.headrace.deliver.Views.close(manifest.pipeline))


def _kind(kind: DataType) -> str:
    return next((name for types, name in _KINDS if isinstance(kind, types)), "NESTED")
