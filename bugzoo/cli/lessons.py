"""`lessons`: notebooks made of their sources, and run to prove what their text says."""

import time
from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.output import table
from bugzoo.errors import UserError

group = typer.Typer(no_args_is_help=True, help="Lessons: make the notebooks, run them to prove what they say.")
app.add_typer(group, name="lessons")

Folder = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The folder that holds `notebooks/`; bugzoo's own by default.")
]


@group.command("list")
def list_() -> None:
    """Show the lessons, in order."""
    from bugzoo import lessons

    found = [lessons.load(name) for name in lessons.files()]
    table(["lesson", "title"], [[lesson.file.stem, lesson.title] for lesson in found], f"{len(found)} lessons")


@group.command()
def build(
    only_check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1 when a notebook is not what it should be.")
    ] = False,
    folder: Folder = None,
) -> None:
    """Make notebooks/ from bugzoo/lessons/. The notebooks are never edited by hand.

    Examples:

    - `bugzoo lessons build`
    - `bugzoo lessons build --check`
    """
    from bugzoo import lessons

    if folder and not folder.is_dir():
        raise UserError(f"There is no folder {folder}; `--folder DIR` names the one that holds notebooks/.")
    number = len(lessons.files())
    if only_check:
        problems = lessons.stray(folder)
        for text in problems:
            print(text)
        print(f"{number} lessons looked at, {len(problems)} problems")
        raise typer.Exit(1 if problems else 0)
    written = lessons.build(folder)
    for name in written:
        print(f"written: {name}")
    print(f"{number} lessons, {len(written)} notebooks written")


@group.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[LESSON]...", help="Names or numbers; all when left out.")
    ] = None,
) -> None:
    """Run lessons with their proof cells in, and compare each marked number of the text with what was measured.

    Exit code 1 when a cell raises, a number is not so, or a number stands in the text that nobody proves.

    Examples:

    - `bugzoo lessons check`
    - `bugzoo lessons check 03`
    """
    from bugzoo import lessons
    from bugzoo.lessons._proof import read_through, run

    bad = 0
    for lesson in [lessons.load(name) for name in names or lessons.files()]:
        begin = time.monotonic()
        problems = read_through(lesson) or run(lesson)
        for text in problems:
            print(text)
        bad += bool(problems)
        told = "holds" if not problems else "DOES NOT HOLD"
        print(
            f"{lesson.file.stem}: {told}, {len(lesson.claims)} numbers and words, {time.monotonic() - begin:.0f} s",
            flush=True,
        )
    raise typer.Exit(1 if bad else 0)
