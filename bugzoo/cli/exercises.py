"""`check` and `exercises`: prove exercises, build them from their declarations, and reset one for a learner."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import Executor, path_argument, path_option
from bugzoo.cli.command import App
from bugzoo.cli.output import Json, answer, built, check_option, emit, progress, table
from bugzoo.files import check_folder
from bugzoo.printable import printable

Folder = Annotated[Path | None, path_option("DIR", "The folder that holds `exercises/`. Default: this one.")]
Name = Annotated[str, typer.Argument(metavar="EXERCISE", help="Its name or number.")]

group = App(no_args_is_help=True, help="Build exercises, reset one, show your progress.")
app.add_typer(group, name="exercises")


@app.command()
def check(
    exercises: Annotated[
        list[str] | None, typer.Argument(metavar="[EXERCISE]...", help="Names or numbers. Default: all.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Grade everything again and ignore stored results.")] = False,
    backlog: Annotated[
        bool, typer.Option("--backlog", help="Also repeat what was proved by an earlier version of the code.")
    ] = False,
    executor: Executor = None,
    browser: Annotated[
        bool, typer.Option("--browser", help="Also go through the exercises by clicks, in Chromium. Takes minutes.")
    ] = False,
    json: Json = None,
) -> None:
    """Prove exercises by real submissions, graded as a learner's is.

    The unsolved notebook earns no points. The solution and at least three other correct repairs pass. At least five
    degenerate ones and a list of attacks on the grader fail. Where a program is to be broken, edits are graded instead of
    repairs. No text that a learner sees names the fault. Exit code 1
    when something is not proved. In a checkout, proofs are stored in `proofs/` until the exercise changes. Graded
    submissions are also cached.

    Examples:

    - `bugzoo check`
    - `bugzoo check 07 28_mixed_lengths`
    - `bugzoo check 04 --backlog`
    - `bugzoo check 04 --browser`
    - `bugzoo check --json proof.json`
    """
    from bugzoo.grading.exercises import load

    names = [load(name).name for name in exercises or ()]  # an unknown one is reported before torch is loaded
    if browser:
        from bugzoo.proving.browser import check_there

        check_there()
    from bugzoo.running import connected

    with connected(executor) as pool, progress("submissions", json) as tell:
        from bugzoo.proving.check import check as prove

        report = prove(names, tell, fresh, executor=pool, backlog=backlog)
    if json:
        emit(report.to_json(), json)
    if json != "-":
        _proofs(report)
    good = report.ok
    if browser and good:
        from bugzoo.proving.browser import gone_through

        good = gone_through("an_exercise", [proof.exercise for proof in report.proofs])
    raise typer.Exit(0 if good else 1)


def _proofs(report: Any) -> None:
    heads = {
        "unsolved": "unsolved fails",
        "solution": "solution passes",
        "correct": "correct pass",
        "half": "half earns half",
        "degenerate": "degenerate fail",
        "attack": "attacks fail",
    }
    if not any(proof.count("half")[1] for proof in report.proofs):  # of two faults, and few exercises have them
        del heads["half"]
    lines, sentences = [], []
    for proof in report.proofs:
        counts = ["{} of {}".format(*count) if (count := proof.count(kind))[1] else "-" for kind in heads]
        lines.append([proof.exercise, *counts, str(proof.diagnoses or "-"), "proved" if proof.proved else "NOT PROVED"])
        sentences += [f"{proof.exercise}: {text}" for text in proof.problems]
    table(["exercise", *heads.values(), "diagnoses", "result"], lines)
    for text in sentences:
        print(printable(text))
    print(f"{report.runs} submissions and notebooks ({report.cached} from the cache) in {report.seconds:.1f} s")
    if report.older:
        print(f"{report.older} of these were proved by an earlier version of the code: `--backlog` repeats them.")


@group.command()
def build(
    only_check: Annotated[bool, check_option("notebook")] = False, folder: Folder = None, json: Json = None
) -> None:
    """Build exercises/ and solutions/ from their declarations. Never edit these notebooks by hand.

    Examples:

    - `bugzoo exercises build`
    - `bugzoo exercises build --check`
    """
    if folder is not None:
        check_folder(folder)
    from bugzoo.grading import files

    lines = files.stray(folder) if only_check else files.build(folder)
    built("notebooks", len(files.texts()), lines, json, only_check=only_check)


@group.command()
def instructor(
    folder: Annotated[Path, path_argument("DIR", "A new folder, or an nbgrader course.")], json: Json = None
) -> None:
    """Write the instructor's versions, from which nbgrader makes the students': DIR/source/NAME/NAME.ipynb.

    Then `nbgrader generate_assignment NAME` in DIR makes the notebook of exercises/, with nbgrader's checksums. An
    existing nbgrader_config.py is kept. Add `c.Execute.timeout = 300` to it, because grading trains programs.

    Example: `bugzoo exercises instructor my_course`
    """
    check_folder(folder)
    from bugzoo.grading import files

    written = files.course(folder)
    lines = [f"written: {path}" for path in written]
    answer({"written": written}, json, *lines, f"Next, in {folder}: nbgrader generate_assignment 04_flat_loss --create")


@group.command()
def reset(exercise: Name, folder: Folder = None, json: Json = None) -> None:
    """Reset an exercise to its original notebook. Your version is kept next to it, as NAME.before.ipynb.

    Example: `bugzoo exercises reset 07`
    """
    from bugzoo.grading.exercises import load

    load(exercise)  # an unknown one is reported before torch is loaded
    from bugzoo.grading import files

    path, before = files.reset(exercise, folder)
    lines = [f"reset: {path}", *([f"your version: {before}"] if before else [])]
    answer({"file": path, "before": before}, json, *lines)


@group.command("another")
def draw_another(exercise: Name, folder: Folder = None, json: Json = None) -> None:
    """Write another case like an exercise: another ticket, on another program, seed or parameter.

    It is trained first, with its healthy twin, because its ticket quotes the run. It is graded like the exercise.

    Example: `bugzoo exercises another 04`
    """
    from bugzoo.grading.exercises import load

    load(exercise)  # an unknown one is reported before torch is loaded
    with progress("runs", json) as tell:
        from bugzoo.grading import files

        path = files.draw_another(exercise, folder, progress=tell)
    answer({"file": path}, json, f"written: {path}")


@group.command("record")
def record_runs(exercise: Name, json: Json = None) -> None:
    """Train and record the five runs of a *five*, and those of its further tickets. Only in a checkout.

    A notebook shows the recording and trains nothing. Record again when the program or the fault has changed. What was
    run is written to proofs/recorded. Exit code 1 when a healthy run raises an alarm, or the broken one shows nothing.

    Example: `bugzoo exercises record 02`
    """
    from bugzoo.grading.exercises import load
    from bugzoo.grading.kinds.five.answers import cases, five

    name = load(exercise).name
    five(load(name))  # another kind is reported before torch is loaded
    from bugzoo.proving import fives

    reports = {}
    for case in cases(load(name)):
        with progress(f"runs of {case.name}", json) as tell:
            reports[case.name] = fives.record(case, tell)
    if json:
        emit(reports, json)
    else:
        for case_name, problems in reports.items():
            print("\n".join([f"recorded: {case_name}", *(f"  {text}" for text in problems)]))
    raise typer.Exit(1 if any(reports.values()) else 0)


@group.command("progress")
def show_progress(json: Json = None) -> None:
    """Show your progress: attempts and best points for each exercise."""
    from bugzoo.grading.exercises import exercises
    from bugzoo.record import standing

    standings = standing()
    none: dict[str, Any] = {"attempts": 0, "best": 0.0, "passed": False}
    rows = [{"id": name, "title": e.title, **standings.get(name, none)} for name, e in exercises().items()]
    if json:
        emit(rows, json)
        return
    lines = [
        [row["id"], row["title"], str(row["attempts"]), f"{row['best']:g}", "passed" if row["passed"] else "open"]
        for row in rows
    ]
    table(["exercise", "title", "attempts", "best points", "state"], lines)
