"""`assign`: for whoever teaches a class."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import check_faults, finite, place, seed_option
from bugzoo.cli.asked import check_asked, check_dialect, credit
from bugzoo.cli.output import emit, json_option, progress
from bugzoo.errors import UserError
from bugzoo.files import check_folder

Json = Annotated[str | None, json_option()]
MOST_POINTS = 1000
USUAL_TITLE = "Something is wrong with this training"


@app.command()
def assign(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", parser=place, help="The folder to make; it must not be there, or be empty.")
    ],
    program: Annotated[
        str | None, typer.Option(metavar="NAME", help="The program that is broken; `bugzoo list programs`.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", "-f", metavar="SPEC", help="`family/name` or with `?param=value`; repeatable."),
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", parser=place, help="Draw from many cases instead, a case for each student."),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Draw from the faults of this family, as a pool does; repeatable."),
    ] = None,
    level: Annotated[
        list[int] | None, typer.Option(metavar="1..5", help="Draw from the faults of this level; repeatable.")
    ] = None,
    together: Annotated[int | None, typer.Option(metavar="N", help="Draw cases of so many faults, 1 to 3.")] = None,
    seed: Annotated[int, seed_option("Seed of the program that is handed out.")] = 0,
    title: Annotated[str | None, typer.Option(help="What students read first; files are named after it.")] = None,
    story: Annotated[str | None, typer.Option(help="What was reported, instead of a general text.")] = None,
    points: Annotated[float, typer.Option(help="Points for the repair.")] = 7.0,
    diagnosis_points: Annotated[float, typer.Option(help="Points for the diagnosis.")] = 3.0,
    partial: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE[,SHARE]",
            help="Share of the repair's points for a part of it, 0.6 when left out; several are a curve.",
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER", help="What a fault, or each of a family, weighs beside others; repeatable."
        ),
    ] = None,
    students: Annotated[
        Path | None,
        typer.Option(
            "--students",
            "--roster",
            metavar="ROSTER.csv",
            parser=place,
            help="A notebook of their own for each of these.",
        ),
    ] = None,
    variants: Annotated[
        int | None, typer.Option(min=1, max=5000, metavar="N", help="So many notebooks, where there is no roster.")
    ] = None,
    dialects: Annotated[
        int | None, typer.Option(min=0, max=40, metavar="N", help="Rewritings of each variant's text; 8 when left out.")
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            "--in-other-words",
            metavar="WORD",
            help="Without students: everybody's text in a combination of dialects that is drawn from this number or word.",
        ),
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

    A parameter may be left open, `step=40..60`: with --students everybody gets a value of their own, a seed, and the program
    in other dialects: other names, another order, functions, classes, settings objects. Who is handed what is worked out from
    the course secret and the student's id, and from nothing else. `--variants 300` makes as many without a roster.

    With --pool each student gets one of several cases that are about equally hard, drawn from what is proved. FILE.toml says
    which: `families`, `faults`, `programs`, `levels`, `together` (1 to 3 faults), `cases` (how many), `difficulty` and
    `spread` (0 to 1), `dialects`, `partial`, `weights`, `title`, `story`; all may be left out. --family, --level, --together,
    --partial and --weight say the same here, stand above the file, and make a pool where there is none.

    Who repairs a part of several faults earns a part: of 7 points at most 0.6 x 7, in proportion to the weights of what is gone.
    `--partial 0` gives nothing for a part, `--partial 0.1,0.6` little for the first half and more for the second.

    Examples:

    - `bugzoo assign --program mini_transformer --fault loop/stale_gradients --fault loss/double_softmax --seed 7
      --title "Week 3" week_3`
    - `bugzoo assign --program mlp --fault "numerics/log_at_step?step=40..60&eps=0" --students class.csv
      --secret course.secret week_4`
    - `bugzoo assign --pool pool.toml --roster class.csv --secret course.secret week_5`
    - `bugzoo assign --family loss --level 2 --together 2 --variants 30 --secret course.secret week_6`
    """
    drawing = bool(pool or family or level) or together is not None
    check_asked(program, fault, drawing, students, variants)
    check_dialect(dialect, dialects, students is not None or variants is not None)
    if program and fault:
        check_faults(fault, program)  # what can be told without torch is told first
    for name, value in (("--points", points), ("--diagnosis-points", diagnosis_points)):
        finite(name, value, 0, MOST_POINTS)
    if title is not None and not any(letter.isalnum() for letter in title):
        raise UserError(f"--title {title!r} holds no letter and no digit; files are named after it.")
    check_folder(out)
    from bugzoo.instructor import folder, roster
    from bugzoo.instructor.variants import read_secret, settle

    folder.check_place(out, force)
    people, word = [], ""
    if students is not None or variants is not None:
        if secret is None:
            raise UserError(
                "--students and --variants also take --secret FILE|ENV: the word from which everybody's variant is drawn."
            )
        word = read_secret(secret, dict(os.environ))
        people = roster.read(students) if students else roster.numbered(variants or 1)
    elif secret is not None:
        raise UserError(
            "--secret is for variants; say also for whom: --students ROSTER.csv, or how many: --variants 30."
        )
    settled = tuple(settle(spec) for spec in fault or ())
    from bugzoo.instructor import layout, pools, proof
    from bugzoo.instructor.credit import Credit
    from bugzoo.instructor.model import DIALECTS, STORY, Assignment, named
    from bugzoo.instructor.students import draw_all, refuse_what_hides

    asked = pools.read(pool) if pool else None
    parts = credit(partial, weight, asked.credit if asked else None)
    if drawing:
        asked = pools.with_options(asked, family or (), level or (), together, parts)
    title = title or (asked.title if asked else "") or USUAL_TITLE
    cases = pools.drawn(asked, word, named(title)) if asked else []
    how_many = dialects if dialects is not None else asked.dialects if asked else DIALECTS
    told = story or (asked.story if asked else "") or STORY
    first = (cases[0].program, cases[0].faults) if cases else (program or "", settled)
    worth = (points, diagnosis_points)
    draft = Assignment(
        *first, seed, title, told, worth, dialect=dialect or "", how_many=how_many, credit=parts or Credit()
    )
    drafts = [replace(draft, program=one.program, faults=one.faults) for one in cases] or [draft]
    try:
        with progress("proof", json) as tell:
            proofs, refused = proof.prove_all(drafts, tell, fresh, asked.cases if asked else None)
        if len(proofs) < (asked.cases if asked else 1):
            if json:
                emit({"refused": True} | refused[0].to_json(), json)
            proof.refuse(refused[0])
        for one in refused:
            print(f"Refused, and another case drawn: {one.named}: {one.problems[0]}", file=sys.stderr)
        if cases:
            proved = {(one.assignment.program, one.assignment.faults) for one in proofs}
            cases = [one for one in cases if (one.program, one.faults) in proved]
            draft = proofs[0].assignment
        if dialect is not None:
            refuse_what_hides(draft)
        with progress("variants", json) as tell:
            own = draw_all(draft, fault or (), people, word, tell, cases) if people else []
    except KeyboardInterrupt:
        print(
            "\nNothing was written. What was measured is kept, so that the same command takes less time.",
            file=sys.stderr,
        )
        raise
    done = proofs[0]
    made = layout.write(done, out, own, force, proofs[1:], cases)
    if json:
        emit(
            {"refused": False, "folder": str(out), "assignment": draft.name, "files": _files(made)} | done.to_json(),
            json,
        )
    if json != "-":
        for one in proofs:
            print(one)
        _tell(draft, out, len(own))


@app.command()
def student_package(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", parser=place, help="Where the wheel goes; it is made when it is missing.")
    ] = Path("."),
    json: Json = None,
) -> None:
    """Make the wheel that students install: what their notebooks need, and nothing of the answers.

    The catalogue of faults, the programs without them, exercises, solutions, lessons and all commands are left out. It is
    installed with `pip install FILE`, instead of bugzoo, and opens every notebook that `bugzoo assign` made.

    Examples:

    - `bugzoo student-package`
    - `bugzoo student-package handouts`
    """
    check_folder(folder)
    from bugzoo.instructor import student_package as package

    made = package.write(folder)
    if json:
        emit({"wheel": str(made), "files": sorted(package.files())}, json)
    if json != "-":
        print(f"{made} is ready. Students type: pip install {made.name}")


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
