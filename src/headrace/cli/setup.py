"""``headrace setup``: this machine made ready."""

import json

import click

from headrace.local.setup import prepare


@click.command()
@click.option("--development", is_flag=True, help="Also fetch what headrace's own tests need.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def setup(*, development: bool, as_json: bool) -> None:
    """Make this machine ready, so that later commands need no network.

    Finds Java (JAVA_HOME, the PATH, else the one that was installed as a wheel), fetches the pinned jars into
    the user's cache and compiles the kernel where headrace runs from its sources. Variables:
    HEADRACE_MAVEN_MIRROR, another Maven repository than the central one (a mirror in ~/.m2/settings.xml is
    honoured too); HEADRACE_CACHE, another folder than ~/.cache/headrace.
    """
    ready = prepare(development=development)
    if as_json:
        click.echo(
            json.dumps(
                {
                    "java": {
                        "home": str(ready.java.home),
                        "version": ready.java.version,
                        "by": ready.java.found_by,
                    },
                    "jars": {"folder": str(ready.jars), "fetched": ready.fetched},
                    "kernel": {"jar": str(ready.kernel), "compiled": ready.compiled},
                }
            )
        )
        return
    click.echo(f"Ready: {ready.java}, jars in {ready.jars}, kernel {ready.kernel}")
