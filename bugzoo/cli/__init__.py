"""The command line: parses, calls, prints. One file a group of commands; imports wait for their use."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from bugzoo.errors import UserError

app = typer.Typer(
    name="bugzoo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Every command has its own --help with examples. `make lab` is the guided way in.",
)

WRITES = ("run", "verify")
"""Commands whose `--json` is followed by a file name; elsewhere it takes one only when it ends in .json."""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"bugzoo {version('bugzoo')}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """A teaching lab of breakable training runs: break one, watch it beside its healthy twin, find the cause, fix it.

    First steps:

    - `bugzoo list` shows what there is
    - `bugzoo run mlp --fault "numerics/log_at_step?step=50&eps=0"` runs a broken program beside the healthy one
    - `bugzoo lab my_lab` copies lessons and exercises to a folder and opens them
    - `bugzoo checkup train.py` looks at a training script of your own
    - `bugzoo interview` gives you five minutes and an unknown fault
    """


def optional_value(argv: Sequence[str]) -> list[str]:
    """`argv` with a bare `--json` turned into `--json=-` (print), since the option's file name may be left out.

    `checkup --json train.py` must never take the script for the file to write.
    """
    arguments, out = list(argv), []
    command = next((a for a in arguments if not a.startswith("-")), "")
    while arguments:
        word = arguments.pop(0)
        if word == "--":
            return [*out, word, *arguments]
        if word == "--json":
            following = arguments[0] if arguments else "-"
            a_name = following == "-" or not following.startswith("-")
            if a_name and (following == "-" or command in WRITES or following.endswith(".json")):
                word = f"--json={arguments.pop(0) if arguments else '-'}"
            else:
                word = "--json=-"
        out.append(word)
    return out


def commands() -> None:
    """Load the command files; each adds its commands to `app`."""
    from bugzoo.cli import catalogue, classroom, interviewing, proof, runs  # noqa: F401


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point. A user's mistake is one message and exit code 2; Ctrl-C is 130; a closed pipe is silence."""
    commands()
    code = 0
    try:
        app(optional_value(sys.argv[1:] if argv is None else argv), prog_name="bugzoo")
    except SystemExit as stop:
        code = stop.code
    except UserError as error:
        print(f"bugzoo: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("\nbugzoo: stopped.", file=sys.stderr)
        code = 130
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # `bugzoo list | head -1`: nobody is listening any more, and that is fine
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
