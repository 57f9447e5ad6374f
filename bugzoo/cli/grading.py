"""`grade` and `gradescope`: a class's hand-ins, and the points for them."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any
from zipfile import is_zipfile

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import check_assignment, executor_option, place
from bugzoo.cli.output import emit, json_option, progress, table
from bugzoo.errors import UserError
from bugzoo.files import check_folder, check_place, write_atomic

Json = Annotated[str | None, json_option()]


@app.command()
def grade(
    submissions: Annotated[
        Path,
        typer.Argument(
            metavar="SUBMISSIONS",
            parser=place,
            help="A folder, or the zip that the LMS gives: what the class handed in.",
        ),
    ],
    assignment: Annotated[
        str, typer.Option(metavar="FOLDER|EXERCISE", help="What `bugzoo assign` made, or an exercise: 16_flat_loss.")
    ],
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", parser=place, help="Write a gradebook as nbgrader exports it, with states and notes."
        ),
    ] = None,
    students: Annotated[
        Path | None,
        typer.Option(metavar="ROSTER.csv", parser=place, help="Who is in the class: names, and who handed nothing in."),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=place, help="Where results are kept; beside SUBMISSIONS when left out."),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="SYSTEM", help="nbgrader, canvas, moodle or gradescope, where the names do not say it."
        ),
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="SYSTEM=PLACE",
            help="Fill in canvas=GRADEBOOK.csv, moodle=WORKSHEET.csv, gradescope=DIR or "
            "nbgrader=gradebook.db; repeatable.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column that --to fills, where it is not called as the title."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoding of ROSTER.csv, where it does not tell itself: gbk, cp1251."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Submissions at once; one a core when left out.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", parser=place, help="When it is due, what late days cost, who has longer."),
    ] = None,
    overrides: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=place,
            help="Points given by hand; overrides.toml or .csv beside the results if left out.",
        ),
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

    SUBMISSIONS is nbgrader's `submitted/` (a folder a student, with the notebook at any depth up to two), a folder of files,
    or what Canvas, Moodle and Gradescope let you download, as a zip or unpacked; its names tell which. With --students (or
    the file of --to) each hand-in is matched to the roster by number, id, e-mail or name; those that match nobody are
    graded under the name that the LMS gives, and said. Each student ends as passed, wrong, your code raised, not attempted,
    cannot be graded or not handed in. What every check saw lies beside SUBMISSIONS, one JSON file a student.

    Of what bugzoo brings, every exercise can be homework: hand its notebook in exercises/ out as it is. The answer to *which of
    these runs is ill* counts as a diagnosis, the change that breaks a program as a repair.

    --to fills in the LMS's own files, whose other cells stay as they are; before Canvas's and Moodle's are changed the first
    time, a copy is kept as NAME.before.csv. Who has no score keeps what stands there.

    --policy is a TOML file: `due`, `zone`, `late_days` (free), `late_penalty` (share of the points a day begun after those),
    `closes`, `extensions = { ada = "2026-10-08" }`, `attempts = [10, 7, 5]` (what the first hand-in that could be judged is
    worth, the second, the third, and no more count: the best one stands). --overrides holds points with a reason, in TOML below
    `[ada]` or as a CSV file of student, points, repair, diagnosis and reason. Both are read each time and grade nothing again;
    what they did stands in table, CSV and JSON, beside the grader's own points. An unknown hand-in time costs nothing.

    Examples:

    - `bugzoo grade submitted --assignment week_3 --csv gradebook.csv`
    - `bugzoo grade submitted --assignment week_3 --policy policy.toml --overrides overrides.toml`
    - `bugzoo grade submissions.zip --assignment week_3 --to canvas=grades.csv --column "Week 3"`
    - `bugzoo grade submitted --assignment week_3 --students class.csv --csv gradebook.csv --json all.json`
    - `bugzoo grade submitted --assignment 16_flat_loss`
    - `bugzoo grade submitted --assignment 05 --csv gradebook.csv`
    """
    if not submissions.is_dir() and not (submissions.is_file() and is_zipfile(submissions)):  # before anything heavy
        raise UserError(f"{submissions} is no folder and no zip; name the one that holds the submissions.")
    check_assignment(assignment, any_kind=True)
    if csv:  # not after an hour of grading
        check_place(csv)
    whole = Path(os.path.abspath(submissions))
    kept = results or whole.with_name(f"{whole.stem if submissions.is_file() else whole.name}_graded")
    check_folder(kept)
    people = _people(students, encoding)
    from bugzoo.instructor.course import standing

    rules = standing.read(policy, overrides)  # before torch is loaded
    from bugzoo.instructor import classroom, gradebook, tasks
    from bugzoo.instructor.lms import outlets
    from bugzoo.instructor.submission import readable
    from bugzoo.running.cluster import connected

    task = tasks.to_grade(assignment)
    outs = outlets.prepare(to or [], task, column)
    task.people = outlets.known(task.people, people, outs)
    kept = kept / task.name
    rules = rules.beside(kept)
    handed = classroom.collect(submissions, task, system)
    rules.check({*task.people, *(one.student for one in handed.found)})
    _tell_unmatched(handed)
    try:
        with connected(executor) as pool, progress("graded", json) as tell:
            records = classroom.grade_handed(handed, task, kept, tell, jobs, fresh, trust, executor=pool)
    except KeyboardInterrupt:
        print(f"\nWhat was graded is kept in {kept}; the same command goes on from there.", file=sys.stderr)
        raise
    records = standing.applied(records, rules)
    if csv:
        write_atomic(csv, gradebook.nbgrader(records, task.name, task.people))
    said, failed = outlets.write(outs, records, task.people)
    if json:
        emit(
            {
                "assignment": task.name,
                "max_points": task.max_points,
                "from": handed.system,
                "rules": rules.files,
                "students": [vars(r) for r in records],
                "left_aside": [vars(one) for one in handed.left],
                "written": said,
            },
            json,
        )
    if json != "-":
        _class_table(records, task.name)
        print(f"Every check of every student is in {kept}." + (f" The gradebook is {csv}." if csv else ""))
        if rules.files:
            print(f"Points are after {' and '.join(rules.files)}.")
        for line in said:
            print(readable(line))
    if failed:
        raise failed[0]


def _people(students: Path | None, encoding: str | None) -> list[Any]:
    """The roster's students; it is said where its encoding was guessed."""
    if students is None:
        if encoding is not None:
            raise UserError("--encoding is that of the roster; say also --students ROSTER.csv.")
        return []
    from bugzoo.instructor import roster
    from bugzoo.instructor.lms import sheet

    table = sheet.read(students, encoding)
    people = list(roster.rows(table).values())
    if table.encoding == "cp1252" and not encoding:
        print(
            f"{students} is no UTF-8; it was read as Windows-1252. If names look odd, say --encoding.", file=sys.stderr
        )
    return people


def _tell_unmatched(handed: Any) -> None:
    """Said before grading, on stderr: whose hand-ins nobody is, and which files were not looked at."""
    from bugzoo.instructor.submission import readable

    if handed.unmatched:
        count = len(handed.unmatched)
        print(
            f"{count} hand-in{'s match' if count > 1 else ' matches'} nobody on the roster; points for them are nobody's:",
            file=sys.stderr,
        )
        for one in handed.unmatched:
            print(f"  {one.student}: {one.unmatched} ({one.handed or 'no notebook'})", file=sys.stderr)
    if handed.left:
        print("Left aside:", file=sys.stderr)
        for one in handed.left:
            print(f"  {readable(str(one))}", file=sys.stderr)


def _class_table(records: list[Any], name: str) -> None:
    from bugzoo.instructor import gradebook
    from bugzoo.instructor.submission import readable

    lines = []
    for record in records:
        points = "-" if record.points is None else f"{record.points:g}"
        parts = [f"{part['points']:g}" if part else "-" for part in (record.repair, record.diagnosis)]
        lines.append(
            [record.student, record.state, *parts, f"{points} of {record.max_points:g}", gradebook.why(record)]
        )
    shown = [[readable(cell) for cell in line] for line in lines]
    table(["student", "state", "repair", "diagnosis", "points", "why"], shown, name)


@app.command()
def gradescope(
    assignment: Annotated[
        str, typer.Argument(metavar="FOLDER|EXERCISE", help="What `bugzoo assign` made, or an exercise: 16_flat_loss.")
    ],
    out: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", parser=place, help="Where the zip is written.")
    ] = Path("autograder.zip"),
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Grade on where the container has no sandbox: submissions could read the key."),
    ] = False,
    json: Json = None,
) -> None:
    """Make the zip of a Gradescope autograder, which grades each submission with bugzoo as it is handed in.

    It holds setup.sh, run_autograder, bugzoo as it is installed here and the answer key, so it is for you alone; upload it
    under Configure Autograder, Zip file. A container that allows no sandbox gives no score and says so, unless you say
    --trust.

    Examples:

    - `bugzoo gradescope week_3 -o autograder.zip`
    - `bugzoo gradescope 16_flat_loss`
    """
    check_assignment(assignment, any_kind=True)
    check_place(out)
    from bugzoo.instructor.lms import autograder_zip

    names = autograder_zip.write(assignment, out, trust)
    if json:
        emit({"written": out, "files": names, "trust": trust}, json)
    if json != "-":
        print(
            f"{out} is ready: {len(names)} files, with the answer key among them. Upload it under Configure Autograder."
        )
