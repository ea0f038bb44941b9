"""``headrace down``: the local servers stopped."""

import json

import click

from headrace.local.stack import Stack


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def down(names: tuple[str, ...], *, as_json: bool) -> None:
    """Stop the local servers (all, or those named). Their data stays for the next start."""
    stopped = Stack().down(names)
    if as_json:
        click.echo(json.dumps(stopped))
    else:
        click.echo("\n".join(f"stopped {name}" for name in stopped) or "nothing was running")
