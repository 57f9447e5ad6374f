"""The command line: parses, calls, prints. One file a group of commands; imports wait for their use."""

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

app = App(
    name="bugzoo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Every command has its own --help with examples. `make lab` is the guided way in.",
)

FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says when there is no room left to write to."""

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
    from bugzoo.cli import (  # noqa: F401
        catalogue,
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
    """What was wrong with the words of a command, with the value that was given and what to type next."""
    text = error.format_message().rstrip(".")
    if wrong := re.match(
        r"Invalid value for '?(.+?)'?: Input should be (.+)", text
    ):  # as the library's library says it
        text = (
            f"{wrong[1]} takes {next((re.sub(a, b, wrong[2]) for a, b in _TAKES if re.search(a, wrong[2])), wrong[2])}"
        )
    names = getattr(getattr(error, "param", None), "opts", [])
    given = [value for name, value in pairwise(words) if name in names]
    given += [word.split("=", 1)[1] for word in words if word.split("=", 1)[0] in names and "=" in word]
    told = not given or repr(given[-1]) in text or (given[-1] and given[-1] in text)
    shown = "" if told else f"; {given[-1]!r} was given"
    command = getattr(getattr(error, "ctx", None), "command_path", None)
    if command is None:
        command = " ".join(["bugzoo", *words[:1]]) if words and words[0].isalpha() else "bugzoo"
    end = "" if text.endswith("?") else "."
    return f"{text}{shown}{end}\nSee `{command} --help`."


def _hear_ctrl_c() -> list[int]:
    """The signals so far, filled as they come; each is a KeyboardInterrupt as ever. Libraries swallow some of those."""
    pressed: list[int] = []

    def hear(number: int, frame: Any) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler and current_thread() is main_thread():
        signal.signal(signal.SIGINT, hear)
    return pressed


def _can_be_heard(closed: Collection[str]) -> None:
    """Raises UserError where the answer would go nowhere, or where we stand in a folder that is gone."""
    if "stdout" in closed:
        raise UserError("stdout is closed, so that nobody would see the answer. Leave `>&-` out, or type > /dev/null.")
    try:
        os.getcwd()
    except OSError as error:
        raise UserError(f"The working folder is gone ({error.strerror}). Type `cd` and the name of one.") from None


def main(argv: Sequence[str] | None = None, closed: Collection[str] = ()) -> None:
    """The entry point. A user's mistake is one message and exit code 2; Ctrl-C is 130; a closed pipe is silence.

    `closed` names the standard streams that were closed when the process began (`streams.mend` puts others there).
    """
    code: int | str | None = 0
    pressed: list[int] = []
    words = optional_value(sys.argv[1:] if argv is None else argv)
    try:
        pressed = _hear_ctrl_c()
        _can_be_heard(closed)
        commands()
        code = app(words, prog_name="bugzoo", standalone_mode=False, obj={"closed": closed})
        if pressed and code == 130:  # typer has made a code of it
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
        usage: Any = getattr(error, "format_message", None)  # a usage mistake of typer's has no public base class
        if not usage and not pressed:
            raise
        if not usage:  # an import that Ctrl-C cut in half was caught somewhere, and what was left of it failed
            _say("\nbugzoo: stopped.")
        elif usage():  # a bare `bugzoo` has printed its help and says nothing more
            _say(f"bugzoo: {_short(usage_mistake(error, words))}")
        code = 2 if usage else 130
    # Ctrl-C while a text was executed, as dataclasses do: Python remembers it, and would end by the signal and not with 130,
    # unless another text has come to its end since
    if code == 130:
        exec("")
    sys.exit(_flushed(code))


def _short(text: str) -> str:
    """A word of thousands of letters, pasted by mistake, does not push the message out of the window."""
    return re.sub(r"\S{300,}", lambda word: f"{word[0][:80]}...{word[0][-20:]}", text)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # the disk behind stderr is full: the exit code says it
        print(text, file=sys.stderr)


def _flushed(code: int | str | None) -> int | str | None:
    """`code`, or 2 where what was printed has not arrived: the disk behind stdout is full."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # else Python says it again at its end
            if not code:
                _say(f"bugzoo: The output could not be written: {error.strerror}.")
                code = 2
    return code
