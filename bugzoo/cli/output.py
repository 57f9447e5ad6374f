"""Output for people and for machines: tables, JSON and progress."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from bugzoo.files import check_place, write_atomic
from bugzoo.plain import plain
from bugzoo.printable import printable

JSON_HELP = "Write the result as JSON to this file. Without a name, or with `-`, print it."
LEAST = 24
"""Columns that the last column of a table needs. In a narrower window the cells of a line go below each other."""
OFTEN, SELDOM = 0.1, 4.0
"""Seconds between two progress messages: in a terminal, and in a log."""


def json_option(help: str = JSON_HELP) -> Any:
    return typer.Option("--json", metavar="[OUT]", help=help, callback=_writable)


def _writable(out: str | None) -> str | None:
    """Return the file name. Raises before the work starts if it cannot be written."""
    if out == "":
        raise typer.BadParameter("'' is not a file; leave the name out to print the JSON")
    if out and out != "-":
        check_place(out)
    return out


Json = Annotated[str | None, json_option()]


def check_option(what: str) -> Any:
    """Return the declaration of `--check` of a command that builds files. `what`: one of them."""
    return typer.Option("--check", help=f"Write nothing. Exit code 1 when a {what} is out of date.")


def emit(value: Any, out: str) -> None:
    """Write JSON to a file, or to stdout for `-`."""
    text = json.dumps(plain(value), indent=2, allow_nan=False) + "\n"
    if out == "-":
        sys.stdout.write(text)
    else:
        write_atomic(out, text)


def answer(value: Any, json: str | None, *lines: str) -> None:
    """Write `value` as JSON where `--json` asks for it, else print the lines."""
    if json:
        emit(value, json)
    else:
        print(*lines, sep="\n")


def console(stderr: bool = False) -> Any:
    """Return a rich console that does not color paths and ids."""
    from rich.console import Console

    screen = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = 120  # a file or a pipe has no width, and its tables need no line breaks
    return screen


def table(columns: list[str], lines: list[list[str]], title: str = "") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = console()
    title, lines = printable(title), [[printable(cell) for cell in line] for line in lines]
    widths = [max(len(name), *(len(line[at]) for line in lines), 0) + 3 for at, name in enumerate(columns)]
    if out.width < sum(widths[:-1]) + min(widths[-1], LEAST):
        _blocks(out, columns, lines, title)
        return
    grid = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE, pad_edge=False)
    for number, name in enumerate(columns):
        grid.add_column(name, no_wrap=number == 0, overflow="fold")
    for line in lines:
        grid.add_row(*(Text(cell) for cell in line))
    out.print(grid)


def _blocks(out: Any, columns: list[str], lines: list[list[str]], title: str) -> None:
    """Print a table in a narrow window: each line becomes a heading with its cells below."""
    from rich.padding import Padding
    from rich.text import Text

    if title:
        out.print(Text(title, style="bold"))
    for line in lines:
        out.print(Text("\n" + line[0], style="bold"))
        for name, cell in list(zip(columns, line, strict=True))[1:]:
            if cell:
                out.print(Padding(Text(f"{name}: {cell}"), (0, 0, 0, 2)))


def _at_terminal(json: str | None) -> bool:
    """Return whether to show a moving bar: never in a log or next to JSON."""
    return json is None and sys.stderr.isatty() and sys.stdout.isatty()


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


@contextlib.contextmanager
def progress(label: str, json: str | None = None) -> Iterator[Callable[[int, int], None]]:
    """Yield tell(done, of) for work of known length. It shows a bar with the time left, or a line on stderr now and then.

    `json` is the command's own option. Work done before the first call comes from a cache and does not count as speed.
    Ctrl-C, or any other end of the block, leaves the terminal as it was.
    """
    if _at_terminal(json):
        with _bar() as bar:
            task = None

            def move(done: int, of: int) -> None:
                nonlocal task
                if task is None:
                    task = bar.add_task(label, completed=done, total=of)
                bar.update(task, completed=done, total=of)

            yield move
        return
    begun = last = time.monotonic()
    before: int | None = None

    def say(done: int, of: int) -> None:
        nonlocal last, before
        before, now = done if before is None else before, time.monotonic()
        if now - last >= SELDOM and done < of:
            last = now
            left = (now - begun) / (done - before) * (of - done) if done > before else None
            more = f", about {_duration(left)} left" if left is not None else ""
            print(f"{label}: {done} of {of}{more}", file=sys.stderr, flush=True)
        elif done >= of and last > begun:  # a log that has a first line also gets a last one
            last = begun
            print(f"{label}: {done} of {of}", file=sys.stderr, flush=True)

    yield say


def _bar() -> Any:
    from rich import progress as rich

    label, count = rich.TextColumn("{task.description}"), rich.MofNCompleteColumn()
    columns = (label, rich.BarColumn(), count, rich.TimeElapsedColumn(), rich.TimeRemainingColumn())
    return rich.Progress(*columns, console=console(stderr=True), transient=True)


def built(
    what: str, number: int, done: list[str], json: str | None, files: str = "notebooks", *, only_check: bool = False
) -> None:
    """Print which `files` were written. With `only_check`, print what is wrong with them and exit with 1 or 0."""
    if only_check:
        answer({what: number, "problems": done}, json, *done, f"{number} {what} checked, {len(done)} problems")
        raise typer.Exit(1 if done else 0)
    lines = [*(f"written: {text}" for text in done), f"{number} {what}, {len(done)} {files} written"]
    answer({what: number, "written": done}, json, *lines)


@contextlib.contextmanager
def steps(json: str | None = None) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Yield step(which, info), which shows the step and the loss of each training run.

    The length of the first run is unknown. The second run is taken to be as long.
    """
    if _at_terminal(json):
        with _bar() as bar:
            tasks: dict[str, Any] = {"": bar.add_task("loading torch", total=None)}
            seen, last = 0, 0.0

            def move(which: str, info: dict[str, Any]) -> None:
                nonlocal seen, last
                if which not in tasks:
                    bar.remove_task(tasks.popitem()[1])
                    tasks[which], last = bar.add_task(which, total=seen or None), 0.0
                seen, now = info["step"], time.monotonic()
                if now - last > OFTEN:
                    last = now
                    bar.update(tasks[which], completed=seen, description=f"{which}{_loss(info)}")

            yield move
        return
    begun = last = time.monotonic()

    def say(which: str, info: dict[str, Any]) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SELDOM:
            last = now
            print(f"{which}: step {info['step']}{_loss(info)}, {now - begun:.0f} s", file=sys.stderr, flush=True)

    yield say


def _loss(info: dict[str, Any]) -> str:
    return "" if info.get("loss") is None else f", loss {info['loss']:.4f}"


@contextlib.contextmanager
def shorter(json: str | None = None) -> Iterator[Callable[[int, int], None]]:
    """Yield told(tries, lines) for the search for a shorter script, whose length is unknown."""
    if _at_terminal(json):
        with console(stderr=True).status("running the script") as status:
            yield lambda tries, lines: status.update(f"{tries} shorter scripts tried, the best has {lines} lines")
        return
    last = time.monotonic()

    def say(tries: int, lines: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SELDOM:
            last = time.monotonic()
            print(f"{tries} shorter scripts tried, the best has {lines} lines", file=sys.stderr, flush=True)

    yield say
