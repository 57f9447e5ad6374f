"""`assign` and `grade`: for whoever teaches a class."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import check_assignment, check_faults, executor_option, finite, place, seed_option
from bugzoo.cli.output import emit, json_option, progress, table
from bugzoo.errors import UserError
from bugzoo.files import check_folder, check_place, write_atomic
from bugzoo.machine import NO_SANDBOX, portable

Json = Annotated[str | None, json_option()]
MOST_POINTS = 1000


@app.command()
def assign(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", parser=place, help="The folder to make; it must not be there, or be empty.")
    ],
    program: Annotated[str, typer.Option(metavar="NAME", help="The program that is broken; `bugzoo list programs`.")],
    fault: Annotated[
        list[str],
        typer.Option("--fault", "-f", metavar="SPEC", help="`family/name` or with `?param=value`; repeatable."),
    ],
    seed: Annotated[int, seed_option("Seed of the program that is handed out.")] = 0,
    title: Annotated[str, typer.Option(help="What students read first; files are named after it.")] = (
        "Something is wrong with this training"
    ),
    story: Annotated[str | None, typer.Option(help="What was reported, instead of a general text.")] = None,
    points: Annotated[float, typer.Option(help="Points for the repair.")] = 7.0,
    diagnosis_points: Annotated[float, typer.Option(help="Points for the diagnosis.")] = 3.0,
    students: Annotated[
        Path | None,
        typer.Option(metavar="ROSTER.csv", parser=place, help="A notebook of their own for each student listed here."),
    ] = None,
    secret: Annotated[
        str | None, typer.Option(metavar="FILE|ENV", help="The course secret from which the variants are drawn.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the files of an assignment that is there.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what is known already.")] = False,
    json: Json = None,
) -> None:
    """Make an assignment that nobody has the answer to: notebooks, answer key and proof.

    Real runs prove it first: every fault shows while the others are there, the program as handed out earns nothing, a
    half-repair a part, the whole repair everything. A combination in which one fault hides the other is refused (exit
    code 2) with the numbers that say so. That takes about a minute; Ctrl-C in between leaves nothing behind.

    OUT then holds `student/` to hand out, `source/` for nbgrader, `instructor/` with answer key, solution and proof for
    you alone, and a README on what to type next.

    A parameter may be left open, `step=40..60`: with --students everybody gets a value of their own, and a seed.

    Examples:

    - `bugzoo assign --program mini_transformer --fault loop/stale_gradients --fault loss/double_softmax --seed 7
      --title "Week 3" week_3`
    - `bugzoo assign --program mlp --fault "numerics/log_at_step?step=40..60&eps=0" --students class.csv
      --secret course.secret week_4`
    """
    check_faults(fault, program)  # what can be told without torch is told first
    for name, value in (("--points", points), ("--diagnosis-points", diagnosis_points)):
        finite(name, value, 0, MOST_POINTS)
    if not any(letter.isascii() and letter.isalnum() for letter in title):
        raise UserError(f"--title {title!r} holds no letter from a to z and no digit; files are named after it.")
    check_folder(out)
    from bugzoo.instructor import folder, roster, variants

    folder.check_place(out, force)
    people, word = [], ""
    if students is not None:
        if secret is None:
            raise UserError(
                "--students also takes --secret FILE|ENV: the word from which everybody's variant is drawn."
            )
        people, word = roster.read(students), variants.read_secret(secret, dict(os.environ))
    elif secret is not None:
        raise UserError("--secret is for variants; say also for whom: --students ROSTER.csv.")
    settled = tuple(variants.settle(spec) for spec in fault)
    from bugzoo.instructor import layout, proof
    from bugzoo.instructor.model import STORY, Assignment
    from bugzoo.instructor.students import draw_all

    draft = Assignment(program, settled, seed, title, story or STORY, (points, diagnosis_points))
    try:
        with progress("proof", json) as tell:
            done = proof.prove(draft, tell, fresh)
        if not done.ok and json:
            emit({"refused": True} | done.to_json(), json)
        proof.refuse(done)
        with progress("variants", json) as tell:
            own = draw_all(draft, fault, people, word, tell) if people else []
    except KeyboardInterrupt:
        print(
            "\nNothing was written. What was measured is kept, so that the same command takes less time.",
            file=sys.stderr,
        )
        raise
    made = layout.write(done, out, own, force)
    if json:
        emit(
            {"refused": False, "folder": str(out), "assignment": draft.name, "files": _files(made)} | done.to_json(),
            json,
        )
    if json != "-":
        print(done)
        _tell(draft, out, len(own))


def _files(made: Path) -> list[str]:
    from bugzoo.instructor import folder

    return sorted(folder.manifest(made)["files"])


def _tell(draft: Any, out: Path, variants: int) -> None:
    from bugzoo.instructor import pages

    name = draft.name
    print(f"\n{out} is ready.")
    if variants:
        print(f"  student/<id>/{name}.ipynb    {variants} notebooks, one a student")
    else:
        print(f"  student/{name}.ipynb    to hand out")
    print("  instructor/    answer key, solution, proof: for you alone")
    print("\nWhat to type next, when the notebooks are back in submitted/<student>/:\n")
    lines = pages.commands(name).strip().splitlines()[1:-1]
    print("\n".join(f"  {line}" if line else "" for line in [f"cd {out}", *lines]))


@app.command()
def grade(
    submissions: Annotated[
        Path,
        typer.Argument(
            metavar="SUBMISSIONS", parser=place, help="A folder for each student, or STUDENT.ipynb for each."
        ),
    ],
    assignment: Annotated[
        str, typer.Option(metavar="FOLDER|EXERCISE", help="What `bugzoo assign` made, or an exercise: 01_flat_loss.")
    ],
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=place, help="Write a gradebook as nbgrader exports it.")
    ] = None,
    students: Annotated[
        Path | None,
        typer.Option(metavar="ROSTER.csv", parser=place, help="Who is in the class: names, and who handed nothing in."),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=place, help="Where results are kept; beside SUBMISSIONS when left out."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Submissions at once; one a core when left out.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Grade again what has been graded already.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Grade on where this machine has no sandbox.")] = False,
    executor: Annotated[str | None, executor_option()] = None,
    json: Json = None,
) -> None:
    """Grade a whole class, each submission in a sandbox of its own: no network, limits on time, memory and processes.

    Notebooks are read, never opened in a kernel: what somebody changed in the grader's cells does not count. One that
    cannot be graded gets no score rather than zero, with the reason, and the others go on. Ctrl-C keeps what is done; the
    same command goes on from there, and later grades only what is new or has changed.

    SUBMISSIONS is nbgrader's `submitted/` (a folder a student, with the notebook at any depth up to two) or a folder of
    files. Each student ends as passed, wrong, your code raised, not attempted, cannot be graded or, with --students, not
    handed in. What every check saw lies beside SUBMISSIONS, one JSON file a student.

    Examples:

    - `bugzoo grade submitted --assignment week_3 --csv gradebook.csv`
    - `bugzoo grade submitted --assignment week_3 --students class.csv --csv gradebook.csv --json all.json`
    - `bugzoo grade submitted --assignment 01_flat_loss`
    """
    if portable() and not trust and not executor:
        raise UserError(NO_SANDBOX)
    if not submissions.is_dir():  # said before anything heavy is loaded
        raise UserError(f"{submissions} is no folder; name the one that holds the submissions.")
    check_assignment(assignment)
    if csv:  # not after an hour of grading
        check_place(csv)
    kept = results or Path(os.path.abspath(submissions)).with_name(f"{Path(os.path.abspath(submissions)).name}_graded")
    check_folder(kept)
    from bugzoo.instructor import roster

    people = {one.id: vars(one) for one in roster.read(students)} if students else {}
    from bugzoo.instructor import classroom, gradebook, tasks
    from bugzoo.running.cluster import connected

    task = tasks.load(assignment)
    task.people = people | task.people
    kept = kept / task.name
    try:
        with connected(executor) as pool, progress("graded", json) as tell:
            records = classroom.grade_class(submissions, task, kept, tell, jobs, fresh, trust, executor=pool)
    except KeyboardInterrupt:
        print(f"\nWhat was graded is kept in {kept}; the same command goes on from there.", file=sys.stderr)
        raise
    if csv:
        write_atomic(csv, gradebook.nbgrader(records, task.name, task.people))
    if json:
        emit({"assignment": task.name, "max_points": task.max_points, "students": [vars(r) for r in records]}, json)
    if json != "-":
        _class_table(records, task.name)
        print(f"Every check of every student is in {kept}." + (f" The gradebook is {csv}." if csv else ""))


def _class_table(records: list[Any], name: str) -> None:
    lines = []
    for record in records:
        repair, diagnosis = (part or {} for part in (record.repair, record.diagnosis))
        said = "; ".join(text.rstrip(".") for text in [_first_failure(repair) or record.message, *record.notes] if text)
        points = "-" if record.points is None else f"{record.points:g}"
        parts = [f"{part['points']:g}" if part else "-" for part in (repair, diagnosis)]
        lines.append([record.student, record.state, *parts, f"{points} of {record.max_points:g}", said])
    table(["student", "state", "repair", "diagnosis", "points", "why"], lines, name)


def _first_failure(repair: dict[str, Any]) -> str:
    failed = [check for check in repair.get("checks", []) if check["status"] != "passed"]
    return f"{failed[0]['name']}: {failed[0]['saw']}" if failed else ""
