"""The command ``headrace``: sub-commands are loaded when they are called, errors are told in plain text."""

import os
import sys
import tempfile
import traceback
from importlib import import_module
from typing import NoReturn

import click

from headrace import __version__
from headrace.errors import HeadraceError

# Name and one line of each: known without loading the command, so that `headrace --help` stays fast.
COMMANDS = {
    "run": "Run a pipeline until Ctrl-C, until it has caught up, or until drained.",
    "plan": "Show what a pipeline becomes: steps, shuffles, state, guarantees, what may be lost.",
    "lateness": "Measure how late the rows of a topic come; recommend a watermark.",
    "query": "Read a view: its rows as they are now, and as they change.",
    "reset": "Start a new history of a pipeline.",
    "demo": "Run an example from its data to a checked result.",
    "up": "Start the local servers.",
    "down": "Stop the local servers; their data stays.",
    "status": "Show how the local servers are.",
    "logs": "Show a local server's log.",
    "setup": "Make this machine ready: Java, jars, the kernel.",
}
_INTERRUPTED = 130


class _Lazy(click.Group):
    """A group that imports the module of a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"headrace.cli.{cmd_name}"), cmd_name)
        if not isinstance(command, click.Command):
            raise TypeError(f"headrace.cli.{cmd_name}.{cmd_name} is not a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def headrace() -> None:
    """Streaming in Python on Spark: event time, state in the JVM, exactly-once delivery."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    sys.exit(exit_code_of(arguments))


def exit_code_of(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code, with every error told on stderr."""
    try:
        result = headrace.main(args=arguments, prog_name="headrace", standalone_mode=False)
    except click.exceptions.Abort:
        # click's name for Ctrl-C: who pressed it knows why.
        return _INTERRUPTED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has seen enough. What is still buffered must not raise at the end.
        sys.stdout = None
        return 0
    except Exception as error:  # noqa: BLE001 - the last resort: nobody is to read a traceback of ours unasked
        return _told(error)
    return result if isinstance(result, int) else 0


def _told(error: Exception) -> int:
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    known = error if isinstance(error, HeadraceError) else _as_bug(error)
    click.echo(f"{click.style('error:', fg='red', bold=True)} {known}", err=True)
    return known.exit_code


def _as_bug(bug: Exception) -> HeadraceError:
    what = f"this is a bug in headrace: {type(bug).__name__}: {(str(bug).splitlines() or [''])[0]}"
    if os.environ.get("HEADRACE_LOG_LEVEL", "").upper() == "DEBUG":
        traceback.print_exception(bug)
        return HeadraceError(what, cure="report it, with what is above")
    handle, name = tempfile.mkstemp(prefix="headrace-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.writelines(traceback.format_exception(bug))
    return HeadraceError(what, cure=f"report it, with what is in {name}")
