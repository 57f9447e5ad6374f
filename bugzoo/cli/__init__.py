"""The command line: it parses, calls and prints. Each group of commands has its file. Imports wait until they are used."""

import contextlib
import errno
import os
import re
import signal
import sys
from collections.abc import Collection, Sequence
from itertools import pairwise
from threading import current_thread, main_thread
from typing import Annotated, Any

import typer

from bugzoo.cli.command import App
from bugzoo.errors import UserError
from bugzoo.printable import printable

app = App(
    name="bugzoo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Every command has its own --help with examples. New here? In a checkout, `make lab` opens a first case.",
)

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Error numbers of a full disk or quota."""

WRITES = ("run", "verify")
"""Commands whose `--json` takes any file name. In other commands the name must end in .json."""


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
    """Practice debugging PyTorch training: break a script, compare it with its healthy twin, find the cause, fix it.

    The healthy twin is the same script without the fault. First steps:

    - `bugzoo list` lists all faults, programs, instruments and exercises
    - `bugzoo run mlp --fault initialisation/weights_too_large` runs a broken program and its healthy twin
    - `bugzoo lab my_lab` copies lessons and exercises to a folder and opens them in JupyterLab
    - `bugzoo checkup train.py` searches your own training script for bugs
    - `bugzoo interview` gives you five minutes to find an unknown fault
    """


def optional_value(argv: Sequence[str]) -> list[str]:
    """Return `argv` with a bare `--json` turned into `--json=-` (print): the option's file name is optional.

    `checkup --json train.py` must never write to the script.
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
    """Import the command files. Each adds its commands to `app`."""
    from bugzoo.cli import (  # noqa: F401
        catalogue,
        causes,
        classroom,
        docs,
        examine,
        exercises,
        interviewing,
        lessons,
        proof,
        reporting,
        runs,
        teaching,
    )


_TAKES = (
    ("a valid integer.*", "a whole number"),
    ("a valid number.*", "a number"),
    ("less than or equal to", "at most"),
    ("greater than or equal to", "at least"),
)


def usage_mistake(error: Any, words: Sequence[str]) -> str:
    """Return what is wrong in a command line, the value that was given and what to type next."""
    text = error.format_message().rstrip(".").replace(": Value error, ", ": ")
    # the wording of pydantic, which typer uses
    if wrong := re.match(r"Invalid value for '?(.+?)'?: Input should be (.+)", text):
        takes = next((re.sub(a, b, wrong[2]) for a, b in _TAKES if re.search(a, wrong[2])), wrong[2])
        text = f"{wrong[1]} takes {takes}"
    names = getattr(getattr(error, "param", None), "opts", [])
    values = [value for name, value in pairwise(words) if name in names]
    values += [word.split("=", 1)[1] for word in words if word.split("=", 1)[0] in names and "=" in word]
    mentioned = not values or repr(values[-1]) in text or (values[-1] and values[-1] in text)
    remark = "" if mentioned else f"; {values[-1]!r} was given"
    command = getattr(getattr(error, "ctx", None), "command_path", None)
    if command is None:
        command = " ".join(["bugzoo", *words[:1]]) if words and words[0].isalpha() else "bugzoo"
    end = "" if text.endswith("?") else "."
    return f"{text}{remark}{end}\nSee `{command} --help`."


def _hear_ctrl_c() -> list[int]:
    """Return a list that records each Ctrl-C, because some libraries swallow the KeyboardInterrupt."""
    pressed: list[int] = []

    def hear(number: int, frame: Any) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler and current_thread() is main_thread():
        signal.signal(signal.SIGINT, hear)
    return pressed


def _can_be_heard(closed: Collection[str]) -> None:
    """Raise UserError when stdout is closed or the working folder was deleted."""
    if "stdout" in closed:
        raise UserError("stdout is closed, so the output would be lost. Leave `>&-` out, or type > /dev/null.")
    try:
        os.getcwd()
    except OSError as error:
        raise UserError(f"The working folder was deleted ({error.strerror}). Go to another one with `cd`.") from None


def main(argv: Sequence[str] | None = None, closed: Collection[str] = ()) -> None:
    """Run a command. Exit code 2 and one message after a user's mistake, 130 after Ctrl-C. A closed pipe is ignored.

    `closed` names the standard streams that were closed when the process began (`streams.mend` replaces them).
    """
    code: int | str | None = 0
    pressed: list[int] = []
    words = optional_value(sys.argv[1:] if argv is None else argv)
    try:
        pressed = _hear_ctrl_c()
        _can_be_heard(closed)
        commands()
        code = app(words, prog_name="bugzoo", standalone_mode=False, obj={"closed": closed})
        if pressed and code == 130:  # typer has turned Ctrl-C into an exit code
            _say("\nbugzoo: stopped.")
    except SystemExit as stop:
        code = stop.code
    except UserError as error:
        _say(f"bugzoo: {_short(str(error))}")
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        _say("\nbugzoo: stopped.")
        code = 130
    except OSError as error:
        if error.errno not in FULL:
            raise
        _say(f"bugzoo: The output could not be written: {error.strerror}.")
        code = 2
    except Exception as error:
        usage: Any = getattr(error, "format_message", None)  # typer's usage errors have no public base class
        if not usage and not pressed:
            raise
        if not usage:  # Ctrl-C interrupted an import, a library caught it, and the half-imported module failed
            _say("\nbugzoo: stopped.")
        elif usage():  # empty after a bare `bugzoo`, which has printed its help
            _say(f"bugzoo: {_short(usage_mistake(error, words))}")
        code = 2 if usage else 130
    # Ctrl-C inside exec(), which dataclasses use: Python would then end by the signal and not with code 130,
    # unless another exec() has finished since
    if code == 130:
        exec("")
    sys.exit(_flushed(code))


def _short(text: str) -> str:
    """Return the text with very long words shortened, so that a pasted mistake does not fill the window."""
    return re.sub(r"\S{300,}", lambda word: f"{word[0][:80]}...{word[0][-20:]}", text)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # stderr goes to a full disk: the exit code tells it
        print(printable(text), file=sys.stderr)


def _flushed(code: int | str | None) -> int | str | None:
    """Return `code`, or 2 when the output could not be written because the disk is full."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # else Python reports it again at exit
            if not code:
                _say(f"bugzoo: The output could not be written: {error.strerror}.")
                code = 2
    return code
