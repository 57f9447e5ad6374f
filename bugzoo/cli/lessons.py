"""`lessons`: build the notebooks from their sources, and run them to prove the numbers in their texts."""

import time
from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import path_option
from bugzoo.cli.command import App
from bugzoo.cli.output import Json, built, check_option, emit, progress, table
from bugzoo.errors import UserError

group = App(no_args_is_help=True, help="Build the lesson notebooks, and run them to prove the numbers in their texts.")
app.add_typer(group, name="lessons")

Folder = Annotated[Path | None, path_option("DIR", "The folder that holds `notebooks/`. Default: bugzoo's own.")]


@group.command("list")
def list_(json: Json = None) -> None:
    """List the lessons in order, with estimated minutes, open cells of code, their lines, and predictions."""
    from bugzoo import course
    from bugzoo.course.budget import size

    lessons = [course.load(name) for name in course.files()]
    if json:
        emit([{"id": lesson.file.stem, "title": lesson.title, **size(lesson)._asdict()} for lesson in lessons], json)
        return
    rows = [[lesson.file.stem, lesson.title, *map(str, size(lesson))] for lesson in lessons]
    table(["lesson", "title", "minutes", "cells", "lines", "predictions"], rows, f"{len(lessons)} lessons")


@group.command()
def build(
    only_check: Annotated[bool, check_option("notebook")] = False, folder: Folder = None, json: Json = None
) -> None:
    """Build notebooks/ from bugzoo/lessons/. Never edit these notebooks by hand.

    Examples:

    - `bugzoo lessons build`
    - `bugzoo lessons build --check`
    """
    from bugzoo import course

    if folder and not folder.is_dir():
        raise UserError(f"There is no folder {folder}. With `--folder DIR`, name the one that holds notebooks/.")
    lines = course.stray(folder) if only_check else course.build(folder)
    built("lessons", len(course.files()), lines, json, only_check=only_check)


@group.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[LESSON]...", help="Names or numbers. Default: all.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Also run lessons that are proved already.")] = False,
    browser: Annotated[
        bool, typer.Option("--browser", help="Also go through the named lessons by clicks, in Chromium. Takes minutes.")
    ] = False,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="cpu|cuda", help="Run on this device, and list the sentences and numbers that do not hold there."
        ),
    ] = None,
    save: Annotated[
        bool, typer.Option("--save", help="With --device cuda: write the list to proofs/lessons_cuda.json.")
    ] = False,
    stale: Annotated[
        bool, typer.Option("--stale", help="Run lessons that were proved with earlier code, the oldest proof first.")
    ] = False,
    minutes: Annotated[
        float, typer.Option(metavar="N", min=0, help="With --stale: begin no further lesson after N minutes.")
    ] = 10,
    json: Json = None,
) -> None:
    """Run lessons with their proof cells, and compare each marked number in the text with the measured one.

    Exit code 1 when a cell raises, a number is wrong, or the text holds a number that no cell proves. Proved lessons
    are stored in `proofs/lessons/`. Each lesson runs twice, with one thread and with two. It is not run again while its
    code, its numbers and what it opens are the same, unless you name it. A changed sentence runs nothing.

    Code of bugzoo that a lesson's run reached may have changed since. Such a proof is stale: --stale runs it again.

    Proofs are measured on the CPU. With --device every lesson named is run there, and no proof is stored. It tells words
    (sentences, right answers, conclusions), which fail the check, from digits, which do not.

    Examples:

    - `bugzoo lessons check`
    - `bugzoo lessons check 03`
    - `bugzoo lessons check 02 --browser`
    - `bugzoo lessons check --stale --minutes 10`
    - `bugzoo lessons check 03 --device cuda`
    - `bugzoo lessons check --device cuda --save`
    """
    from bugzoo import course

    chosen = [course.load(name) for name in names or course.files()]  # an unknown one is reported before torch loads
    numbered = [lesson.number for lesson in chosen if lesson.number.isdigit() and int(lesson.number)]
    if browser:
        from bugzoo.proving.browser import check_there

        check_there()
    if device is not None:
        from bugzoo.device import resolved

        device = resolved(device, "--device ")
    if save and (device or "cpu") == "cpu":
        raise UserError("--save keeps what does not hold on a GPU. Type `bugzoo lessons check --device cuda --save`.")
    from bugzoo.proving.lesson_key import oldest_first, why_stale
    from bugzoo.proving.lesson_proof import elsewhere, longest, prove, proved
    from bugzoo.proving.lesson_proof import save as save_run

    if stale:
        chosen = oldest_first(chosen)
    rows, started = [], time.monotonic()
    with progress("lessons", json) as tell:
        for number, lesson in enumerate(chosen):
            tell(number, len(chosen))
            begin = time.monotonic()
            if stale and begin - started > 60 * minutes:
                break
            if stale and json != "-":
                print(f"{lesson.file.stem}: {why_stale(lesson)}", flush=True)
            cached = not (names or fresh or device or stale) and proved(lesson)
            there = elsewhere(lesson, device) if device else {}
            problems = [f"{kind}: {text}" for kind, texts in there.items() for text in texts]
            if not (cached or device):
                problems = prove(lesson)
            if save and device:
                save_run(lesson, device, there)
            wrong = there["words"] if device else problems
            seconds = round(time.monotonic() - begin, 1)
            row = {"id": lesson.file.stem, "ok": not wrong, "problems": problems, "seconds": seconds}
            rows.append(row | {"longest": longest(lesson)})
            if json != "-":
                wording = "NOT PROVED" if problems else "proved"
                if device:
                    counts = ", ".join(f"{len(texts)} {kind}" for kind, texts in there.items() if texts)
                    wording = f"on {device} NOT ALL HOLDS ({counts})" if problems else f"holds on {device}"
                took = "from the cache" if cached else f"{seconds:.0f} s"
                waits = f", longest cell {longest(lesson)}" if longest(lesson) and not device else ""
                about = f"{lesson.file.stem}: {wording}, {len(lesson.claims)} numbers and words, {took}{waits}"
                print("\n".join([*problems, about]), flush=True)
    if json:
        emit(rows, json)
    left = oldest_first([course.load(name) for name in course.files()])
    if left and json != "-" and not device:
        wording = ", ".join(lesson.number for lesson in left)
        print(f"{len(left)} proved with earlier code ({wording}): bugzoo lessons check --stale")
    good = all(row["ok"] for row in rows)
    if browser and good:
        from bugzoo.proving.browser import gone_through

        good = gone_through("a_lesson", numbered)
    raise typer.Exit(0 if good else 1)
