"""`lessons`: notebooks made of their sources, and run to prove what their text says."""

import time
from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import place
from bugzoo.cli.command import App
from bugzoo.cli.output import built, emit, json_option, progress, table
from bugzoo.errors import UserError

group = App(no_args_is_help=True, help="Lessons: make the notebooks, run them to prove what they say.")
app.add_typer(group, name="lessons")

Folder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", parser=place, help="The folder that holds `notebooks/`; bugzoo's own by default."),
]


Json = Annotated[str | None, json_option()]


@group.command("list")
def list_(json: Json = None) -> None:
    """Show the lessons, in order."""
    from bugzoo import course

    found = [course.load(name) for name in course.files()]
    if json:
        emit([{"id": lesson.file.stem, "title": lesson.title} for lesson in found], json)
        return
    table(["lesson", "title"], [[lesson.file.stem, lesson.title] for lesson in found], f"{len(found)} lessons")


@group.command()
def build(
    only_check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1 when a notebook is not what it should be.")
    ] = False,
    folder: Folder = None,
    json: Json = None,
) -> None:
    """Make notebooks/ from bugzoo/lessons/. The notebooks are never edited by hand.

    Examples:

    - `bugzoo lessons build`
    - `bugzoo lessons build --check`
    """
    from bugzoo import course

    if folder and not folder.is_dir():
        raise UserError(f"There is no folder {folder}; `--folder DIR` names the one that holds notebooks/.")
    done = course.stray(folder) if only_check else course.build(folder)
    built("lessons", len(course.files()), done, json, only_check=only_check)


@group.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[LESSON]...", help="Names or numbers; all when left out.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what holds already.")] = False,
    json: Json = None,
) -> None:
    """Run lessons with their proof cells in, and compare each marked number of the text with what was measured.

    Exit code 1 when a cell raises, a number is not so, or a number stands in the text that nobody proves. What holds is
    written down in `proofs/lessons/`; a lesson whose text has not changed since is not run again, unless it is named.

    Examples:

    - `bugzoo lessons check`
    - `bugzoo lessons check 03`
    """
    from bugzoo import course

    chosen = [course.load(name) for name in names or course.files()]  # an unknown one is told before torch is loaded
    from bugzoo.proving.lesson_proof import prove, proved

    rows = []
    with progress("lessons", json) as tell:
        for number, lesson in enumerate(chosen):
            tell(number, len(chosen))
            begin = time.monotonic()
            known = not (names or fresh) and proved(lesson)
            problems = [] if known else prove(lesson)
            seconds = round(time.monotonic() - begin, 1)
            rows.append({"id": lesson.file.stem, "ok": not problems, "problems": problems, "seconds": seconds})
            if json != "-":
                told = "DOES NOT HOLD" if problems else "holds"
                took = "known already" if known else f"{seconds:.0f} s"
                about = f"{lesson.file.stem}: {told}, {len(lesson.claims)} numbers and words, {took}"
                print("\n".join([*problems, about]), flush=True)
    if json:
        emit(rows, json)
    raise typer.Exit(0 if all(row["ok"] for row in rows) else 1)
