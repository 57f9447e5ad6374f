"""Printing for people and for machines, and how far a long piece of work has come."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import typer

from bugzoo.files import check_place, write_atomic
from bugzoo.plain import plain

JSON_HELP = "Write the result as JSON to this file; without a name, or with `-`, print it."
LEAST = 24
"""Columns that the last column of a table needs; below that its lines are written one cell under the other."""
OFTEN, SELDOM = 0.1, 4.0
"""Seconds between two signs of life: for an eye, and for a log."""


def json_option(help: str = JSON_HELP) -> Any:
    return typer.Option("--json", metavar="[OUT]", help=help, callback=_writable)


def _writable(out: str | None) -> str | None:
    """Said before the work is done and not after it."""
    if out == "":
        raise typer.BadParameter("'' is no file; leave the name out to print it")
    if out and out != "-":
        check_place(out)
    return out


def emit(value: Any, out: str) -> None:
    """JSON to a file, or to stdout for `-`."""
    text = json.dumps(plain(value), indent=2, allow_nan=False) + "\n"
    if out == "-":
        sys.stdout.write(text)
    else:
        write_atomic(out, text)


def console(stderr: bool = False) -> Any:
    """A rich console that writes paths and ids as they are."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = 120  # a file or a pipe has no width of its own; tables need not be broken for it
    return made


def table(columns: list[str], lines: list[list[str]], title: str = "") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = console()
    widths = [max(len(name), *(len(line[at]) for line in lines), 0) + 3 for at, name in enumerate(columns)]
    if out.width < sum(widths[:-1]) + min(widths[-1], LEAST):
        _blocks(out, columns, lines, title)
        return
    shown = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE, pad_edge=False)
    for number, name in enumerate(columns):
        shown.add_column(name, no_wrap=number == 0, overflow="fold")
    for line in lines:
        shown.add_row(*(Text(cell) for cell in line))
    out.print(shown)


def _blocks(out: Any, columns: list[str], lines: list[list[str]], title: str) -> None:
    """A table for a narrow window: each line a heading and what belongs to it."""
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
    """Whether something that moves may be shown: nobody is to find it in a log or beside the JSON."""
    return json is None and sys.stderr.isatty() and sys.stdout.isatty()


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


@contextlib.contextmanager
def progress(label: str, json: str | None = None) -> Iterator[Callable[[int, int], None]]:
    """Yields tell(done, of) for work whose length is known: a bar with the time left, or now and then a line on stderr.

    `json` is the command's own option. What is done at the first call was known already and says nothing of the speed.
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
        elif done >= of and last > begun:  # what was begun in a log is ended there
            last = begun
            print(f"{label}: {done} of {of}", file=sys.stderr, flush=True)

    yield say


def _bar() -> Any:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=console(stderr=True), transient=True)


def built(what: str, number: int, done: list[str], json: str | None, *, only_check: bool = False) -> None:
    """Say which notebooks were written, or with `only_check` what is wrong with them, and end with code 1 if anything is."""
    if json:
        emit({what: number, "problems" if only_check else "written": done}, json)
    else:
        for text in done:
            print(text if only_check else f"written: {text}")
        print(
            f"{number} {what} looked at, {len(done)} problems"
            if only_check
            else f"{number} {what}, {len(done)} notebooks written"
        )
    if only_check:
        raise typer.Exit(1 if done else 0)


@contextlib.contextmanager
def steps(json: str | None = None) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Yields step(which, info) for training runs: which of them is at which step, with which loss.

    The first run's length is not known; the next one's is that of the first.
    """
    if _at_terminal(json):
        with _bar() as bar:
            tasks: dict[str, Any] = {"": bar.add_task("torch is being loaded", total=None)}
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
    """Yields told(tries, lines) for a search of which nobody knows how long it takes."""
    if _at_terminal(json):
        with console(stderr=True).status("the script is run") as status:
            yield lambda tries, lines: status.update(f"{tries} shorter scripts tried, {lines} lines show it")
        return
    last = time.monotonic()

    def say(tries: int, lines: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SELDOM:
            last = time.monotonic()
            print(f"{tries} shorter scripts tried, {lines} lines show it", file=sys.stderr, flush=True)

    yield say
