"""`feedback`, `items` and `likeness`: what a graded class tells, to each student and about itself."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import check_assignment, place
from bugzoo.cli.output import emit, json_option, progress, table
from bugzoo.files import check_folder, check_place, write_atomic

Json = Annotated[str | None, json_option()]
Assignment = Annotated[
    str, typer.Option(metavar="FOLDER|EXERCISE", help="What `bugzoo assign` made, or an exercise: 16_flat_loss.")
]
SHOWN = 20
"""Pairs in the table; the page and the JSON have all."""


@app.command()
def feedback(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SUBMISSIONS|RESULTS",
            parser=place,
            help="What the class handed in, or where `bugzoo grade` keeps results.",
        ),
    ],
    assignment: Assignment,
    out: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", parser=place, help="Where the pages go, one a student.")
    ],
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Say also what was wrong, where, and how it is repaired.")
    ] = False,
    results: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=place, help="Where results are kept; beside SUBMISSIONS when left out."),
    ] = None,
    students: Annotated[
        Path | None,
        typer.Option(metavar="ROSTER.csv", parser=place, help="Who is in the class, as for `bugzoo grade`."),
    ] = None,
    system: Annotated[
        str | None, typer.Option("--from", metavar="SYSTEM", help="nbgrader, canvas, moodle or gradescope.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", parser=place, help="The policy that `bugzoo grade` was given.")
    ] = None,
    overrides: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=place, help="Points given by hand; those beside the results if left out."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=1024, help="Runs at once; one a core when left out.")] = None,
    trust: Annotated[bool, typer.Option("--trust", help="Run on where this machine has no sandbox.")] = False,
    json: Json = None,
) -> None:
    """Write a page for each student: points, what every check saw, late days, and the run beside the healthy one.

    The class is graded before (`bugzoo grade`); nothing is graded here. For the picture each program is run once, in the
    sandbox, and its curve is kept beside the results; with RESULTS instead of SUBMISSIONS nothing is run, and only curves
    that are kept are drawn. Each page is one file that needs no network. Without --reveal it says no more than the notebook's
    own checks do.

    Examples:

    - `bugzoo feedback submitted --assignment week_3 -o pages`
    - `bugzoo feedback submitted --assignment week_3 -o pages --reveal --policy policy.toml`
    """
    check_assignment(assignment)
    check_folder(out)
    from bugzoo.instructor.course import standing

    rules = standing.read(policy, overrides)
    from bugzoo.instructor import classroom, roster, tasks
    from bugzoo.instructor.course import feedback as of
    from bugzoo.instructor.course import results as kept
    from bugzoo.instructor.course import runs
    from bugzoo.instructor.records import safe

    task = tasks.load(assignment)
    task.people = roster.merged(task.people, roster.read(students, folders=False)) if students else task.people
    known = not results and kept.holds(source, task.name)
    whole = Path(os.path.abspath(source))
    beside = whole.with_name(f"{whole.stem if source.is_file() else whole.name}_graded")
    where = kept.folder(source if known else results or beside, task.name)
    records, _ = kept.read(where, task.fingerprint())
    records = standing.applied(records, rules.beside(where))
    handed = {} if known else {one.student: one for one in classroom.collect(source, task, system).found}
    try:
        with progress("run", json) as tell:
            wanted = [handed[one.student] for one in records if one.student in handed and one.repair]
            curves = runs.make(wanted, task, where, tell, jobs, trust)
    except KeyboardInterrupt:
        print(f"\nThe curves that are done are kept in {where}; the same command goes on from there.", file=sys.stderr)
        raise
    written = []
    with progress("written", json) as tell:
        for number, record in enumerate(records, 1):
            one = handed.get(record.student)
            owner, _ = task.owner(record.student, one.tag if one else "")
            own = curves.get(record.student) or (runs.read(where, record.student) if known else None)
            picture = of.picture(own, runs.healthy(task, owner) if own else None) if record.repair else ""
            told = (task.answers(owner), (task.handed_out(owner), task.healthy(owner))) if reveal else ((), None)
            path = out / f"{safe(record.student)}.html"
            write_atomic(path, of.page(record, task.title, picture, *told), parents=True)
            written.append(path)
            tell(number, len(records))
    changed = [one.student for one in records if one.student in handed and handed[one.student].digest != one.digest]
    missing = sorted(set(handed) - {one.student for one in records})
    if json:
        emit({"assignment": task.name, "written": written, "changed_since": changed, "not_graded": missing}, json)
    if json != "-":
        print(f"{len(written)} pages are in {out}" + (", with the answers." if reveal else "."))
    if changed or missing:
        names = _names([*changed, *missing])
        print(f"Handed in or changed since the class was graded: {names}. `bugzoo grade` first.", file=sys.stderr)


@app.command()
def items(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", parser=place, help="Where `bugzoo grade` keeps results: submitted_graded."),
    ],
    assignment: Assignment,
    json: Json = None,
) -> None:
    """Tell how hard each item of an assignment was, and whether it sorts the class as the rest does.

    Items are the repair and the finding of each fault. Difficulty is the mean share that was earned; discrimination is the
    corrected item-total correlation, and an item below zero is named. Then: which wrong causes drew whom, and which checks
    stopped how many. The grader's own points count, before policy and overrides.

    Examples:

    - `bugzoo items submitted_graded --assignment week_3`
    - `bugzoo items submitted_graded/week_3 --assignment week_3 --json items.json`
    """
    check_assignment(assignment)
    from bugzoo.instructor import tasks
    from bugzoo.instructor.course import items as of
    from bugzoo.instructor.course import results as kept

    task = tasks.load(assignment)
    records, others = kept.read(kept.folder(results, task.name), task.fingerprint())
    found = of.analyse(records, task)
    if others:
        found.notes.append(
            f"{others} of {len(records)} results were graded with another key or bugzoo; `bugzoo grade` grades those again."
        )
    if json:
        emit({"assignment": task.name} | found.to_json(), json)
    if json != "-":
        _say_items(found, task.name)


def _say_items(found: Any, name: str) -> None:
    from bugzoo.instructor.submission import readable

    rows = [
        [
            one.name,
            str(one.students),
            *(_number(value) for value in (one.difficulty, one.discrimination, one.upper, one.lower)),
        ]
        for one in found.items
    ]
    if rows:
        table(["item", "students", "difficulty", "discrimination", "upper third", "lower third"], rows, name)
    if found.drawn:
        lines = [[readable(one.cause), str(one.count), str(one.upper), str(one.lower)] for one in found.drawn]
        table(["wrong cause", "named by", "of the upper third", "of the lower third"], lines)
    if found.failed:
        table(["check", "stopped"], [[readable(check), str(count)] for check, count in found.failed.items()])
    left = f"; {found.ungraded} results have no points and do not count" if found.ungraded else ""
    print(f"{found.students} students{left}.")
    for note in found.notes:
        print(readable(note))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


@app.command()
def likeness(
    submissions: Annotated[
        Path,
        typer.Argument(metavar="SUBMISSIONS", parser=place, help="A folder or a zip: what the class handed in."),
    ],
    assignment: Assignment,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE.html", parser=place, help="Write a page with the pairs side by side."
        ),
    ] = None,
    students: Annotated[
        Path | None, typer.Option(metavar="ROSTER.csv", parser=place, help="Who is in the class.")
    ] = None,
    system: Annotated[
        str | None,
        typer.Option("--from", metavar="SYSTEM", help="nbgrader, canvas, moodle or gradescope, as for `bugzoo grade`."),
    ] = None,
    json: Json = None,
) -> None:
    """Lay a class's hand-ins beside each other: which repairs are alike, whatever their names and layout.

    What each student changed in the program as handed out is compared, and a change counts by how rare it is: a repair that
    many have weighs little. A pair is one to look at, and no verdict. Notebooks that are the same file, that were drawn for
    somebody else or whose metadata are gone are said as well. Nothing is run.

    Examples:

    - `bugzoo likeness submitted --assignment week_3 -o likeness.html`
    - `bugzoo likeness submissions.zip --assignment week_3 --json pairs.json`
    """
    check_assignment(assignment)
    if out:
        check_place(out)
    from bugzoo.instructor import classroom, roster, tasks
    from bugzoo.instructor.course import likeness as of
    from bugzoo.instructor.course import likeness_page
    from bugzoo.instructor.submission import readable

    task = tasks.load(assignment)
    task.people = roster.merged(task.people, roster.read(students, folders=False)) if students else task.people
    handed = classroom.collect(submissions, task, system)
    with progress("read", json) as tell:
        report = of.compare(handed.found, task, tell)
    if out:
        write_atomic(out, likeness_page.page(report, task.title))
    if json:
        pairs = [vars(pair) | {"look": pair.look} for pair in report.pairs]
        facts = {"assignment": task.name, "compared": len(report.works), "pairs": pairs}
        emit(facts | {"alone": report.alone, "left": report.left}, json)
    if json == "-":
        return
    rows = [[pair.one, pair.other, f"{pair.alike:.0%}", likeness_page.said(pair)] for pair in report.pairs[:SHOWN]]
    if rows:
        table(["one", "other", "alike", ""], [[readable(cell) for cell in row] for row in rows], task.name)
    print(f"{len(report.works)} hand-ins with a change, {len(report.looked_at)} pairs to look at.")
    for name, why in sorted(report.alone.items()):
        print(readable(f"{name}: {'; '.join(why)}"))
    if likeness_page.few(report):
        print(likeness_page.few(report))
    if report.left:
        print(f"Not compared: {_names(sorted(report.left))}.")
    if out:
        print(f"The pairs side by side are in {out}.")


def _names(names: list[str], most: int = 10) -> str:
    from bugzoo.instructor.submission import readable

    more = f" and {len(names) - most} more" if len(names) > most else ""
    return readable(", ".join(names[:most]) + more)
