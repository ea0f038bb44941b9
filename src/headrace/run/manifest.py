"""The manifest of a checkpoint: which step owns which state, and what may change.

Spark numbers stateful operators by position. A checkpoint of headrace holds a
manifest that names them, and a pipeline is compared with it before any query
starts: a change that would mix up or lose state is refused by name.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any

from headrace.declare.duration import spell
from headrace.errors import CheckpointError
from headrace.run.folder import Folder

FORMAT = 1
FILE = "headrace/manifest.json"


@dataclass(frozen=True)
class StepState:
    """What the state of one stateful step looks like."""

    layer: int
    program: int
    groups: int
    spread: int
    codec: int
    kind: str
    window: Mapping[str, Any]
    key: Mapping[str, Any]
    aggregates: Mapping[str, Mapping[str, Any]]
    sources: tuple[str, ...]
    upstream: str
    rows: tuple[tuple[str, ...], ...] = ()
    """The columns of the rows that are held as they came, input by input, each with its type."""


@dataclass(frozen=True)
class SourceState:
    """What a source of the checkpoint reads."""

    index: int
    topic: str


@dataclass(frozen=True)
class Manifest:
    """The contract between a checkpoint and the pipelines that may run on it."""

    pipeline: str
    partitions: int
    checkpoint: str = field(default_factory=lambda: str(uuid.uuid4()))
    next_program: int = 1
    layers: int | None = None
    sources: Mapping[str, SourceState] = field(default_factory=dict)
    steps: Mapping[str, StepState] = field(default_factory=dict)
    finished: bool = False
    adopted: bool = False
    """Whether the markers in the topics are this checkpoint's: from its first exactly-once delivery on."""
    views: tuple[str, ...] = ()
    """The views that this checkpoint has written to."""
    format: int = FORMAT

    def text(self) -> str:
        """Return the manifest as it is written."""
        return json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"


@dataclass(frozen=True)
class Wanted:
    """A stateful step as the pipeline declares it now, with its place in the user's file.

    What only Spark can tell is left out where it has not been asked yet: a key's type is None then, and an
    aggregate has nothing but its text.
    """

    name: str
    where: str
    layer: int
    kind: str
    window: Mapping[str, Any]
    key: Mapping[str, Any]
    aggregates: Mapping[str, Mapping[str, Any]]
    sources: tuple[str, ...]
    upstream: str
    rows: tuple[tuple[str, ...], ...] | None = None
    takes_back: tuple[str, ...] = ()
    """The tables of which the step takes rows back that it was given before."""
    reads_whole: tuple[str, ...] = ()
    """The sources of which the step must see every record from the first on."""


def read(folder: Folder) -> Manifest | None:
    """Read the manifest of a checkpoint; None when the checkpoint is new."""
    text = folder.read(FILE)
    if text is None:
        if folder.names("offsets"):
            raise CheckpointError(
                "the checkpoint has epochs but no manifest, so nobody can say whose state it holds",
                cure="restore headrace/manifest.json, or start a new history with `headrace reset`",
            )
        return None
    try:
        values = json.loads(text)
        newer = values["format"]
        if newer <= FORMAT:
            return _manifest(values)
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise CheckpointError(
            f"the manifest of the checkpoint ({FILE}) is damaged, so nobody can say whose state it holds",
            cure="restore it, or start a new history with `headrace reset`",
        ) from problem
    raise CheckpointError(
        f"the checkpoint has format {newer}, this version of headrace reads up to {FORMAT}",
        cure="run it with the newer headrace that wrote it",
    )


def _manifest(values: dict[str, Any]) -> Manifest:
    values["views"] = tuple(values.get("views", ()))
    values["sources"] = {name: SourceState(**source) for name, source in values["sources"].items()}
    values["steps"] = {
        name: StepState(
            **{
                **step,
                "sources": tuple(step["sources"]),
                "rows": tuple(map(tuple, step.get("rows", ()))),
            }
        )
        for name, step in values["steps"].items()
    }
    return Manifest(**values)


def write(folder: Folder, manifest: Manifest) -> None:
    """Write the manifest whole."""
    folder.write(FILE, manifest.text())


def begun(manifest: Manifest, folder: Folder) -> Manifest:
    """Return what of a manifest holds: before any epoch, no state and no position can be lost."""
    if manifest.finished or folder.names("offsets") or folder.names("commits"):
        return manifest
    return Manifest(manifest.pipeline, manifest.partitions, manifest.checkpoint)


def precheck(manifest: Manifest, pipeline: str, sources: Mapping[str, str], steps: Iterable[Wanted]) -> None:
    """Refuse by name what can be known to be wrong without asking Spark for types."""
    wanted = {step.name: step for step in steps}
    _same_pipeline(manifest, pipeline)
    _steps_still_there(manifest, wanted)
    _layers_unchanged(manifest, wanted)
    _sources(manifest, sources)
    for name, step in wanted.items():
        if name in manifest.steps:
            _compatible(step, manifest.steps[name])
        else:
            _begins_with_its_table(step, manifest)
    _nobody_swapped(manifest, wanted)


def settle(
    manifest: Manifest | None,
    pipeline: str,
    sources: Mapping[str, str],
    steps: Iterable[Wanted],
    *,
    partitions: int,
    groups: int,
    codec: int,
) -> Manifest:
    """Return the manifest that the pipeline runs under, or refuse the change by name."""
    wanted = {step.name: step for step in steps}
    if manifest is None:
        manifest = Manifest(pipeline, partitions)
    else:
        _same_pipeline(manifest, pipeline)
        _steps_still_there(manifest, wanted)
        _layers_unchanged(manifest, wanted)
    depth = max((step.layer + 1 for step in wanted.values()), default=0)
    known = _sources(manifest, sources)
    next_program = manifest.next_program
    settled: dict[str, StepState] = {}
    for name, step in wanted.items():
        old = manifest.steps.get(name)
        if old is not None:
            _compatible(step, old)
            if codec < old.codec:
                raise CheckpointError(
                    f"the state of step {name!r} was written by a newer headrace (codec {old.codec})",
                    where=step.where,
                    cure="run it with the headrace that wrote it",
                )
            settled[name] = replace(old, sources=step.sources, upstream=step.upstream)
        else:
            _begins_with_its_table(step, manifest)
            settled[name] = StepState(
                step.layer,
                next_program,
                groups,
                manifest.partitions,
                codec,
                step.kind,
                step.window,
                step.key,
                {name: {**each, "slot": slot} for slot, (name, each) in enumerate(step.aggregates.items())},
                step.sources,
                step.upstream,
                step.rows or (),
            )
            next_program += 1
    _nobody_swapped(manifest, wanted)
    return replace(manifest, sources=known, steps=settled, next_program=next_program, layers=depth)


def _same_pipeline(manifest: Manifest, pipeline: str) -> None:
    if manifest.pipeline != pipeline:
        raise CheckpointError(
            f"the checkpoint belongs to pipeline {manifest.pipeline!r}, not to {pipeline!r}",
            cure="give the pipeline its old name back, or another checkpoint folder",
        )
    refuse_finished(manifest)


def refuse_finished(manifest: Manifest) -> None:
    """Refuse a checkpoint that was drained."""
    if manifest.finished:
        raise CheckpointError(
            f"the checkpoint of {manifest.pipeline!r} is finished: "
            "it was drained, and its windows are closed for good",
            cure="start a new history: headrace reset FILE",
        )


def _steps_still_there(manifest: Manifest, wanted: Mapping[str, Wanted]) -> None:
    gone = [name for name in manifest.steps if name not in wanted]
    if not gone:
        return
    new = [step for step in wanted.values() if step.name not in manifest.steps]
    alike = [
        step
        for step in new
        if dict(step.window) == dict(manifest.steps[gone[0]].window)
        and set(step.key) == set(manifest.steps[gone[0]].key)
    ]
    if alike:
        raise CheckpointError(
            f"step {gone[0]!r} is gone and step {alike[0].name!r} looks like it: "
            "a step's name is the name of its state, and a renamed step would start empty",
            where=alike[0].where,
            cure=f"call it {gone[0]!r} again, or start a new history: headrace reset FILE",
        )
    raise CheckpointError(
        f"step {gone[0]!r} has state in the checkpoint but is not in the pipeline",
        cure="put the step back, or start a new history: headrace reset FILE",
    )


def _layers_unchanged(manifest: Manifest, wanted: Mapping[str, Wanted]) -> None:
    if manifest.layers is None:
        # A history that was only announced, by a reset, has no operators yet.
        return
    for step in wanted.values():
        if step.layer >= manifest.layers:
            raise CheckpointError(
                f"step {step.name!r} needs a stateful layer that the checkpoint does not have "
                f"(it has {manifest.layers}): Spark cannot add one to a history",
                where=step.where,
                cure="start a new history: headrace reset FILE",
            )


def _sources(manifest: Manifest, sources: Mapping[str, str]) -> dict[str, SourceState]:
    for name, source in manifest.sources.items():
        if name not in sources:
            raise CheckpointError(
                f"source {name!r} (topic {source.topic!r}) is in the checkpoint but not in the pipeline",
                cure="put it back, or start a new history: headrace reset FILE",
            )
        if sources[name] != source.topic:
            raise CheckpointError(
                f"source {name!r} read topic {source.topic!r} and now reads {sources[name]!r}: "
                "its offsets mean nothing there",
                cure="give the new topic's stream another name, or start a new history: headrace reset FILE",
            )
    known = dict(manifest.sources)
    for name, topic in sources.items():
        if name not in known:
            known[name] = SourceState(len(known), topic)
    return known


def _compatible(step: Wanted, old: StepState) -> None:
    if step.kind != old.kind:
        raise _changed(step, "kind", old.kind, step.kind)
    if dict(step.window) != dict(old.window):
        raise _changed(step, step.kind, _brief(old.window), _brief(step.window))
    if set(step.key) != set(old.key):
        raise _changed(step, "key", ", ".join(old.key), ", ".join(step.key))
    if any(kind is not None and kind != old.key[name] for name, kind in step.key.items()):
        raise _changed(step, "key", _brief(old.key), _brief(step.key))
    if step.takes_back and step.upstream != old.upstream:
        raise CheckpointError(
            f"step {step.name!r}: what stands before it was changed, and it would take back other rows "
            "than it was given; its state does not fit any more",
            where=step.where,
            cure="undo the change, or start a new history: headrace reset FILE",
        )
    for source in old.sources:
        if source not in step.sources:
            raise _changed(step, "sources", ", ".join(old.sources), ", ".join(step.sources))
    if step.rows is not None and step.rows != old.rows:
        # They are read back by their columns' places.
        raise _changed(step, "rows", _listed(old.rows), _listed(step.rows))
    _same_aggregates(step, old)


def _listed(rows: tuple[tuple[str, ...], ...]) -> str:
    return " and ".join("(" + ", ".join(columns) + ")" for columns in rows)


def _begins_with_its_table(step: Wanted, manifest: Manifest) -> None:
    """Refuse a new step that would need rows of a table which it was never given."""
    old = next((table for table in step.takes_back if table in manifest.steps), None)
    if old is not None:
        raise CheckpointError(
            f"step {step.name!r} is new and would start empty, and the table {old!r} that it is made of "
            "has rows already: it would have to take back what it never had",
            where=step.where,
            cure="start a new history: headrace reset FILE",
        )
    source = next((source for source in step.reads_whole if source in manifest.sources), None)
    if source is not None:
        raise CheckpointError(
            f"step {step.name!r} is new, and the table {source!r} that it joins was read before: "
            "it would never see the rows that are there already",
            where=step.where,
            cure="start a new history: headrace reset FILE",
        )


def _same_aggregates(step: Wanted, old: StepState) -> None:
    for name, slot in old.aggregates.items():
        new = step.aggregates.get(name)
        if new is None:
            raise _changed(step, f"aggregate {name!r}", slot["text"], "gone")
        if new["text"] != slot["text"]:
            raise _changed(step, f"aggregate {name!r}", slot["text"], new["text"])
        if any(value != slot[what] for what, value in new.items()):
            raise _changed(step, f"aggregate {name!r}", _brief(slot), _brief(new))
    for name, new in step.aggregates.items():
        if name not in old.aggregates:
            # Windows that are open hold no value for it, and would give a part of one.
            raise _changed(step, f"aggregate {name!r}", "not there", new["text"])


def _nobody_swapped(manifest: Manifest, wanted: Mapping[str, Wanted]) -> None:
    """Refuse a step that computes on what another one did, while that one does so no longer.

    Two steps of one shape fit each other's state; a filter that merely changed is the user's to change.
    """
    moved = [
        step
        for name, step in wanted.items()
        if name in manifest.steps and step.upstream != manifest.steps[name].upstream
    ]
    for step in moved:
        for other in moved:
            if other is not step and step.upstream == manifest.steps[other.name].upstream:
                raise CheckpointError(
                    f"step {step.name!r} now computes on what step {other.name!r} did: "
                    "were their names swapped? Each would go on with the other's state",
                    where=step.where,
                    cure="give both their old names, or start a new history: headrace reset FILE",
                )


def _changed(step: Wanted, what: str, was: object, now: object) -> CheckpointError:
    return CheckpointError(
        f"step {step.name!r}: its {what} was {was} and is now {now}; its state does not fit any more",
        where=step.where,
        cure="undo the change, or start a new history: headrace reset FILE",
    )


def _brief(value: Mapping[str, Any]) -> str:
    return ", ".join(_word(name, inner) for name, inner in value.items() if name != "slot")


def _word(name: str, value: object) -> str:
    if name in {"size", "offset"} and isinstance(value, int):
        return f"{name} {spell(timedelta(microseconds=value))}"
    return f"{name} {value}"
