"""`assign` and `grade`: for teachers of a class."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import (
    Executor,
    check_assignment,
    check_faults,
    finite,
    path_argument,
    path_option,
    seed_option,
)
from bugzoo.cli.output import Json, emit, progress, table
from bugzoo.errors import UserError
from bugzoo.files import check_folder, check_place, write_atomic
from bugzoo.machine import NO_SANDBOX, portable

MOST_POINTS = 1000
UNGRADED, FOR_A_PERSON = "cannot be graded", "for a person"


class Unmatched(StrEnum):
    """What to do with hand-ins and students that are left over."""

    stop = "stop"
    ok = "ok"


class Ungraded(StrEnum):
    """The score of a hand-in that cannot be graded by its own fault."""

    empty = "empty"
    zero = "zero"


@app.command()
def assign(
    out: Annotated[Path, path_argument("OUT", "The folder to make. It must be new or empty.")],
    program: Annotated[str, typer.Option(metavar="NAME", help="The program to break; see `bugzoo list programs`.")],
    fault: Annotated[
        list[str],
        typer.Option("--fault", "-f", metavar="SPEC", help="`family/name` or with `?param=value`. Repeatable."),
    ],
    seed: Annotated[int, seed_option("The seed of the students' script.")] = 0,
    title: Annotated[str, typer.Option(help="The title for students. File names are made from it.")] = (
        "Something is wrong with this training"
    ),
    story: Annotated[str | None, typer.Option(help="The symptom as reported, instead of a general text.")] = None,
    points: Annotated[float, typer.Option(help="Points for the repair.")] = 7.0,
    diagnosis_points: Annotated[float, typer.Option(help="Points for the diagnosis.")] = 3.0,
    students: Annotated[
        Path | None, path_option("ROSTER.csv", "Make a different notebook for each student in this list.")
    ] = None,
    secret: Annotated[
        str | None, typer.Option(metavar="FILE|ENV", help="The course secret that the variants are drawn from.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the files of an existing assignment.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure everything again and ignore stored results.")] = False,
    json: Json = None,
) -> None:
    """Make an assignment without a published answer: notebooks, answer key and proof.

    Real runs prove it first. Every fault shows next to the others. The unrepaired script earns no points, a partial
    repair some, the full repair all. If one fault masks another, the combination is refused (exit code 2) with the
    measured numbers. This takes about a minute. Ctrl-C before the end writes nothing.

    OUT then holds `student/` for your students, `source/` for nbgrader and a README with the next commands. Its
    `instructor/`, with answer key, solution and proof, is for you alone.

    A parameter may be left open, such as `step=40..60`. With --students, each student gets a different value and seed.

    Examples:

    - `bugzoo assign --program mini_transformer --fault loop/stale_gradients --fault loss/double_softmax --seed 7
      --title "Week 3" week_3`
    - `bugzoo assign --program mlp --fault "numerics/log_at_step?step=40..60&eps=0" --students class.csv
      --secret course.secret week_4`
    """
    check_faults(fault, program)  # mistakes that can be found without torch are reported first
    for name, value in (("--points", points), ("--diagnosis-points", diagnosis_points)):
        finite(name, value, 0, MOST_POINTS)
    if not any(letter.isascii() and letter.isalnum() for letter in title):
        raise UserError(f"--title {title!r} needs a letter from a to z or a digit, for the file names.")
    check_folder(out)
    from bugzoo import draws
    from bugzoo.instructor import folder, roster, variants

    folder.check_place(out, force)
    people, word = [], ""
    if students is not None:
        if secret is None:
            raise UserError("--students also needs --secret FILE|ENV: the course secret that variants are drawn from.")
        people, word = roster.read(students), variants.read_secret(secret, dict(os.environ))
    elif secret is not None:
        raise UserError("--secret is for variants and also needs --students ROSTER.csv.")
    settled = tuple(draws.settle(spec) for spec in fault)
    from bugzoo.instructor import layout, proof
    from bugzoo.instructor.model import STORY, Assignment
    from bugzoo.instructor.students import draw_all

    draft = Assignment(program, settled, seed, title, story or STORY, (points, diagnosis_points))
    try:
        with progress("proof", json) as tell:
            proved = proof.prove(draft, tell, fresh)
        if not proved.ok and json:
            emit({"refused": True} | proved.to_json(), json)
        proof.refuse(proved)
        with progress("variants", json) as tell:
            student_variants = draw_all(draft, fault, people, word, tell) if people else []
    except KeyboardInterrupt:
        print("\nNothing was written. Measurements are cached, so the same command will be faster.", file=sys.stderr)
        raise
    target = layout.write(proved, out, student_variants, force)
    if json:
        files = sorted(folder.manifest(target)["files"])
        written = {"refused": False, "folder": str(out), "assignment": draft.name, "files": files}
        emit(written | proved.to_json(), json)
    if json != "-":
        print(proved)
        _tell(draft, out, len(student_variants))


def _tell(draft: Any, out: Path, variants: int) -> None:
    from bugzoo.instructor import pages

    name = draft.name
    print(f"\n{out} is ready.")
    if variants:
        print(f"  student/<id>/{name}.ipynb    {variants} notebooks, one for each student")
    else:
        print(f"  student/{name}.ipynb    for your students")
    print("  instructor/    answer key, solution, proof: for you alone")
    print("\nNext, once the submitted notebooks are in submitted/<student>/:\n")
    lines = pages.commands(name).splitlines()
    print("\n".join(f"  {line}" if line else "" for line in [f"cd {out}", *lines]))


@app.command()
def grade(
    submissions: Annotated[
        Path,
        path_argument(
            "SUBMISSIONS",
            "A folder with a subfolder or a STUDENT.ipynb for each student, or a download of Moodle or Canvas.",
        ),
    ],
    assignment: Annotated[
        str,
        typer.Option(metavar="FOLDER|EXERCISE", help="The folder from `bugzoo assign`, or an exercise: 04_flat_loss."),
    ],
    csv: Annotated[Path | None, path_option("FILE", "Write a gradebook: nbgrader's export format, and notes.")] = None,
    students: Annotated[Path | None, path_option("ROSTER.csv", "The class list that hand-ins are matched to.")] = None,
    map_file: Annotated[
        Path | None, path_option("FILE", "A CSV file hand_in,student: whose a hand-in is.", "--map")
    ] = None,
    unmatched: Annotated[
        Unmatched, typer.Option(help="Stop if a hand-in or a student is left over, or go on with `ok`.")
    ] = Unmatched.stop,
    ungraded: Annotated[
        Ungraded, typer.Option(help="The score of a broken hand-in, such as a syntax error: none, or 0 with `zero`.")
    ] = Ungraded.empty,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Further names that hand-ins may use, such as `json`; once for each name."),
    ] = None,
    draw: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Compare the steps drawn from N, as the results name it. Default: a new one."
        ),
    ] = None,
    results: Annotated[Path | None, path_option("DIR", "The folder for results. Default: next to SUBMISSIONS.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Submissions in parallel. Default: one per core.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Also grade unchanged submissions again.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Grade even if this machine has no sandbox.")] = False,
    executor: Executor = None,
    json: Json = None,
) -> None:
    """Grade a whole class. Each submission runs in its own sandbox: no network, limits on time, memory and processes.

    Notebooks are read, never opened in a kernel, so changes to the grader's cells do not count. A notebook that cannot
    be graded gets no score instead of zero, with the reason, and grading continues. Ctrl-C keeps the results so far.
    The same command continues from there, and later grades only new or changed submissions.

    SUBMISSIONS is nbgrader's `submitted/` (one folder per student, with the notebook up to two levels down), a folder
    of files, or the unpacked download of Moodle or Canvas. Each student ends as passed, wrong, your code raised, not
    attempted, cannot be graded, for a person or not handed in. The results of every check are next to SUBMISSIONS, one
    JSON file per student.

    Which training steps are compared with the healthy program's is drawn now, so that no hand-in can know them. The
    results name the number, and `--draw N` repeats it.

    A hand-in that uses more than plain PyTorch, such as `import os`, is for a person: it is not run and has no score.
    The notes name its lines, and `--allow os` grades it, with a note; all that is graded already stays. One that passes
    every check, and decides something by a counter of its own, is for a person too; `--allow` changes nothing there.

    With --students, or if each student has a variant, every hand-in is matched to the class first: by --map, by the
    ids and names in the list, then by the variant in the notebook. Nothing is guessed. If a hand-in or a student is
    left over, both are listed and nothing is graded (exit code 2). `--unmatched ok` goes on. The exit code is 1 if a
    hand-in has no score.

    Examples:

    - `bugzoo grade submitted --assignment week_3 --csv gradebook.csv`
    - `bugzoo grade submitted --assignment week_3 --students class.csv --csv gradebook.csv --json all.json`
    - `bugzoo grade moodle --assignment week_3 --students class.csv --map whose.csv --ungraded zero --csv gradebook.csv`
    - `bugzoo grade submitted --assignment 04_flat_loss`
    """
    if portable() and not trust and not executor:
        raise UserError(NO_SANDBOX)
    if not submissions.is_dir():  # reported before anything heavy is loaded
        raise UserError(f"{submissions} is not a folder; name the one that holds the submissions.")
    check_assignment(assignment)
    if csv:  # not after an hour of grading
        check_place(csv)
    absolute = Path(os.path.abspath(submissions))
    destination = results or absolute.with_name(f"{absolute.name}_graded")
    check_folder(destination)
    from bugzoo.instructor import hand_in_map, roster

    class_list = roster.read(students) if students else []
    mapped = hand_in_map.read(map_file, submissions) if map_file else {}
    if any(submissions.iterdir()):  # a mistake is one message; imports take seconds
        print(f"grading: reading the hand-ins in {submissions} ...", file=sys.stderr, flush=True)
    from bugzoo.instructor import classroom, gradebook, tasks
    from bugzoo.running import connected

    task = tasks.load(assignment)
    task.people = {student.id: vars(student) for student in class_list} | task.people
    destination = destination / task.name
    options = {"mapped": mapped, "unmatched": unmatched is Unmatched.ok, "zero": ungraded is Ungraded.zero}
    options |= {"allow": allow or (), "draw": draw}
    try:
        with connected(executor) as pool, progress("graded", json) as tell:
            records = classroom.grade_class(
                submissions, task, destination, tell, jobs, fresh, trust, executor=pool, students=class_list, **options
            )
    except KeyboardInterrupt:
        print(f"\nResults so far are in {destination}. The same command continues from there.", file=sys.stderr)
        raise
    if csv:
        write_atomic(csv, gradebook.nbgrader(records, task.name, task.people))
    if json:
        rows = [vars(record) | {"notes": gradebook.notes(record)} for record in records]
        emit({"assignment": task.name, "max_points": task.max_points, "students": rows}, json)
    if json != "-":
        _class_table(records, task.name)
        print(f"The checks of every student are in {destination}." + (f" The gradebook is {csv}." if csv else ""))
    _without_score(records)


def _without_score(records: list[Any]) -> None:
    """Name the hand-ins that were not graded and say what to do, and end with exit code 1 if one has no score."""
    left = [record for record in records if record.points is None]
    waits = [record for record in left if record.state == FOR_A_PERSON]
    groups = {
        "could not be graded": [record for record in records if record.state == UNGRADED],
        "for a person (more than plain PyTorch; `--allow NAME` grades it)": [
            record for record in waits if record.aside
        ],
        "for a person (look at the line, and enter the points)": [record for record in waits if not record.aside],
    }
    for what, some in groups.items():
        if some:
            names = ", ".join(record.student for record in some)
            print(f"{len(some)} of {len(records)} {what}: {names}", file=sys.stderr)
    if left:
        raise typer.Exit(1)


def _class_table(records: list[Any], name: str) -> None:
    lines = []
    for record in records:
        repair, diagnosis = (part or {} for part in (record.repair, record.diagnosis))
        remarks = [_first_failure(repair) or record.message, *record.notes]
        reason = "; ".join(text.rstrip(".") for text in remarks if text)
        points = "-" if record.points is None else f"{record.points:g}"
        repaired = repair if record.points is not None else {}
        parts = [f"{part['points']:g}" if part else "-" for part in (repaired, diagnosis)]
        lines.append([record.student, record.state, *parts, f"{points} of {record.max_points:g}", reason])
    table(["student", "state", "repair", "diagnosis", "points", "why"], lines, name)


def _first_failure(repair: dict[str, Any]) -> str:
    failed = [check for check in repair.get("checks", []) if check["status"] != "passed"]
    return f"{failed[0]['name']}: {failed[0]['saw']}" if failed else ""
