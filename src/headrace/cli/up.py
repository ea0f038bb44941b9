"""``headrace up``: the local servers started."""

import json

import click

from headrace.local.stack import Stack


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--port", type=click.IntRange(1, 65535), help="The port of the one server named, instead of any free one."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def up(names: tuple[str, ...], port: int | None, *, as_json: bool) -> None:
    """Start local servers and wait until they answer: Kafka, or those named (kafka, postgres).

    They listen on this machine only and keep their data between runs in .headrace/local of the working
    directory (HEADRACE_HOME names another folder than .headrace). Ports are remembered; one that is in use by
    then is replaced.
    """
    addresses = Stack().up(names, port=port)
    if as_json:
        click.echo(json.dumps(addresses))
    else:
        for name, address in addresses.items():
            click.echo(f"{name}  {address}")
