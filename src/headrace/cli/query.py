"""`headrace query VIEW`: the rows of a view as they are now, and as they change."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from headrace.errors import SettingsError

if TYPE_CHECKING:
    from headrace.watch.view import Answer


@click.command()
@click.argument("view", required=False)
@click.option("--key", help="Only the row of this key; several columns: a JSON object.")
@click.option("--sql", help="A query over the views of VIEW's pipeline.")
@click.option("--follow", is_flag=True, help="Go on with every change, until Ctrl-C.")
@click.option("--pipeline", help="The pipeline, where several have such a view.")
@click.option("--store", help="Folder or PostgreSQL of the views (setting views.store).")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a row.")
def query(
    view: str | None,
    key: str | None,
    sql: str | None,
    follow: bool,  # noqa: FBT001 - click passes flags so
    pipeline: str | None,
    store: str | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Read VIEW while its pipeline runs, or after; without VIEW, list the views that there are.

    An answer is of one epoch. No JVM is started.
    """
    from headrace.run import settings
    from headrace.watch import view as views

    place = settings.load({"views.store": store}).views
    if view is None:
        _list(views.all_views(place, pipeline), as_json=as_json)
        return
    if sql is not None and (key is not None or follow):
        raise SettingsError("--sql goes with neither --key nor --follow", cure="put the key into the SQL")
    found = views.find(place, view, pipeline)
    if not follow:
        answer = views.ask(found, sql) if sql is not None else views.rows(found, key)
        _print(answer, as_json=as_json)
        return
    for change in views.follow(found, key):
        line = {"epoch": change.epoch, "key": change.key, "value": change.value}
        if as_json:
            click.echo(json.dumps(line))
        else:
            what = "deleted" if change.value is None else _row(change.value)
            click.echo(f"epoch {change.epoch}  {_row(change.key)}  {what}")
        sys.stdout.flush()


def _list(found: list[Any], *, as_json: bool) -> None:
    for each in found:
        if as_json:
            line = {
                "view": each.name,
                "pipeline": each.pipeline,
                "key": list(each.key),
                "columns": list(each.columns),
            }
            click.echo(json.dumps(line))
        else:
            click.echo(
                f"{each.name}  by {', '.join(each.key)}  of {each.pipeline}: {', '.join(each.columns)}"
            )
    if not found and not as_json:
        click.echo("there are no views here")


def _print(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        for row in answer.rows:
            click.echo(json.dumps(dict(zip(answer.columns, row, strict=True))))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*answer.columns, title=f"epoch {answer.epoch}", title_justify="left")
    for row in answer.rows:
        table.add_row(*("" if value is None else _text(value) for value in row))
    Console().print(table)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _row(values: Any) -> str:
    return " ".join(f"{name}={_text(value)}" for name, value in values.items())
