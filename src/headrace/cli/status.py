"""``headrace status``: how the local servers are."""

import json

import click

from headrace.local.stack import Stack


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(names: tuple[str, ...], *, as_json: bool) -> None:
    """Show how the local servers are: running or not, where, and where their data and log lie."""
    statuses = Stack().status(names)
    if as_json:
        click.echo(json.dumps({name: found.as_json() for name, found in statuses.items()}))
        return
    for name, found in statuses.items():
        at = f"{found.address}  pid {found.pid}  " if found.address else ""
        click.echo(f"{name}  {found.state}  {at}{found.folder}")
        if found.connect:
            click.echo(f"    {found.connect}")
