"""``headrace logs``: a local server's log."""

import collections
import time

import click

from headrace.errors import SetupError
from headrace.local.kafka import Kafka
from headrace.local.stack import Stack


@click.command()
@click.argument("name", default=Kafka.name)
@click.option(
    "--lines", "-n", type=click.IntRange(0), default=50, show_default=True, help="How many of the last lines."
)
@click.option("--follow", "-f", is_flag=True, help="Go on until Ctrl-C.")
def logs(name: str, lines: int, *, follow: bool) -> None:
    """Show the end of a local server's log."""
    log = Stack().log(name)
    if not log.is_file():
        raise SetupError(f"{name} has no log yet: {log} is missing.", cure=f"start it: headrace up {name}")
    with log.open("r", encoding="utf-8", errors="replace") as file:
        for line in collections.deque(file, maxlen=lines):
            click.echo(line, nl=False)
        while follow:
            if line := file.readline():
                click.echo(line, nl=False)
            else:
                time.sleep(0.2)
