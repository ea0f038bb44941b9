"""`headrace reset FILE`: begin a new history, and say what becomes of the old one's results."""

from __future__ import annotations

import json
import sys

import click

from headrace.errors import SettingsError


@click.command()
@click.argument("file")
@click.option(
    "--outputs",
    type=click.Choice(["append", "replace"]),
    help="Keep what the old history delivered, or delete it.",
)
@click.option("--kafka", "bootstrap", help="host:port of the brokers.")
@click.option("--checkpoint", help="Folder or Hadoop URI for checkpoints.")
@click.option("--set", "assigned", metavar="NAME=VALUE", multiple=True, help="Any setting; can be repeated.")
@click.option("--json", "as_json", is_flag=True, help="What was done, as JSON.")
def reset(
    file: str,
    outputs: str | None,
    bootstrap: str | None,
    checkpoint: str | None,
    assigned: tuple[str, ...],
    as_json: bool,  # noqa: FBT001 - click passes flags so
) -> None:
    """Forget the state and the position of the pipeline in FILE: it will read from its start again."""
    from headrace.run import pipeline_file, settings
    from headrace.run import reset as resets

    pipeline = pipeline_file.load(file)
    chosen = settings.load({"kafka.bootstrap": bootstrap, "checkpoint": checkpoint}, assigned=assigned)
    if outputs is None:
        for line in resets.meaning(pipeline, None):
            sys.stderr.write(f"{line}\n")
        raise SettingsError(
            f"what becomes of the results that {pipeline.name!r} has delivered is not said",
            cure="headrace reset FILE --outputs append, or --outputs replace",
        )
    done = resets.reset(pipeline, chosen, "replace" if outputs == "replace" else "append")
    if as_json:
        sys.stdout.write(json.dumps(done) + "\n")
        return
    sys.stdout.write(f"new history {done['history']} of {done['pipeline']} in {done['checkpoint']}\n")
    for line in resets.meaning(pipeline, done["outputs"]):
        sys.stdout.write(f"  {line}\n")
    for topic, records in done["deleted"].items():
        # Offsets: Kafka's marks of transactions are among them, and it does not tell how many.
        sys.stdout.write(f"  deleted up to {records:,} records of {topic}\n")
