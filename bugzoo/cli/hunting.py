"""`hunt`: several bugs in one program, as hiring labs do it; for the candidate and for the interviewer."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import place, seed_option
from bugzoo.cli.command import App
from bugzoo.cli.output import emit, json_option, progress, table
from bugzoo.errors import UserError
from bugzoo.files import check_place, write_atomic

group = App(
    no_args_is_help=True, help="The hunt: several planted bugs, repaired in your own editor, judged by running them."
)
app.add_typer(group, name="hunt")

Json = Annotated[str | None, json_option()]
CaseFile = Annotated[Path, typer.Argument(metavar="CASE", parser=place, help="The file that `bugzoo hunt make` wrote.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", parser=place, help="The candidate's folder.")]
Method = Annotated[
    float | None, typer.Option(min=0, max=10, help="The interviewer's points for method and follow-ups.")
]
Name = Annotated[str, typer.Option(metavar="NAME", help="Who sits there; it stands in the report.")]


@group.command()
def make(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", parser=place, help="Where the case file goes.")],
    program: Annotated[str | None, typer.Option(help="The program that the bugs are planted in.")] = None,
    faults: Annotated[int | None, typer.Option(help="How many bugs, 3 to 6; by the length when left out.")] = None,
    minutes: Annotated[int, typer.Option(help="20, 45 or 90.")] = 45,
    level: Annotated[
        int, typer.Option(help="1: a complaint for each bug; 2: for those that show at first; 3: none.")
    ] = 2,
    seed: Annotated[int, seed_option("The same seed draws the same bugs.")] = 0,
    recipe: Annotated[
        str | None, typer.Option(metavar="NAME", help="A proved hunt of `bugzoo hunt list` instead.")
    ] = None,
    identical: Annotated[
        bool, typer.Option("--identical", help="A repaired program must print just what the reference prints.")
    ] = False,
    json: Json = None,
) -> None:
    """Freeze a hunt into one file for a whole panel: text, brief, public bar, and the answers, packed.

    The bugs are proved by runs before the file is written: in which order they uncover each other, and that each repair can be
    told. A set that does not hold is replaced by the next draw of the same seed.

    Examples:

    - `bugzoo hunt make --program mini_transformer --faults 4 --seed 7 -o panel.case`
    - `bugzoo hunt make --recipe mlp-45-2-53a60 -o panel.case`
    - `bugzoo hunt make --program digits_cnn --minutes 20 --level 1 --identical -o short.case`
    """
    if out.exists():
        raise UserError(f"{out} exists; name another file with -o, or move it away.")
    check_place(out)
    if (program is None) == (recipe is None):
        raise UserError("Say either --program NAME, or --recipe NAME of `bugzoo hunt list`.")
    from bugzoo.interview.hunt import case, draw, proof
    from bugzoo.interview.hunt import recipe as recipes

    if recipe is not None:
        chosen = recipes.named(recipe)
    else:
        assert program is not None
        count = draw.check(program, faults, minutes, level)
        with progress("proving the bugs", json) as tell:
            chosen = proof.first(draw.recipes(program, count, minutes, level, seed), tell)
    made = case.freeze(chosen, identical=identical)
    case.write(made, out)
    if json:
        emit(
            {"file": out, "ticket": made.ticket, "hash": made.hash, "minutes": made.minutes, "bugs": len(chosen.ids)},
            json,
        )
    if json != "-":
        print(
            f"{out}: hunt {made.ticket}, {len(chosen.ids)} bugs in {chosen.program}, {made.minutes} minutes, level {made.level}."
        )
        print(
            f"`bugzoo hunt packet {out} -o DIR` makes the candidate's folder and your sheet; "
            f"`bugzoo hunt sit {out} DIR` begins here."
        )


@group.command(name="list")
def list_(
    program: Annotated[str | None, typer.Option(help="Only of this program.")] = None,
    minutes: Annotated[int | None, typer.Option(help="Only of this length.")] = None,
    level: Annotated[int | None, typer.Option(help="Only of this level.")] = None,
    json: Json = None,
) -> None:
    """The hunts that are proved and travel with bugzoo; which bugs are in them is not said.

    Example: `bugzoo hunt list --program mlp`
    """
    from bugzoo.interview.hunt.recipe import published

    if program is not None:
        from bugzoo import programs

        programs.load(program)
    found = [
        one
        for one in published()
        if program in (None, one.program) and minutes in (None, one.minutes) and level in (None, one.level)
    ]
    if json:
        names = ("name", "program", "minutes", "level", "difficulty", "seed")
        emit([{name: getattr(one, name) for name in names} | {"bugs": len(one.faults)} for one in found], json)
    if json != "-":
        rows = [
            [
                one.name,
                one.program,
                str(one.minutes),
                str(one.level),
                str(len(one.faults)),
                str(len(one.waves)),
                f"{one.difficulty:.2f}",
            ]
            for one in found
        ]
        table(["name", "program", "minutes", "level", "bugs", "waves", "difficulty"], rows, f"{len(rows)} proved hunts")


@group.command()
def prove(
    program: Annotated[list[str] | None, typer.Option(help="Only on this program; may be repeated.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Prove all of them again.")] = False,
    json: Json = None,
) -> None:
    """Fill the list of proved hunts, and prove those again whose faults or program changed. For who works on bugzoo.

    Example: `bugzoo hunt prove --program mlp`
    """
    from bugzoo import programs
    from bugzoo.interview.hunt import library

    for name in program or ():
        programs.load(name)
    found = library.fill(program or (), say=print if json != "-" else lambda text: None, fresh=fresh)
    if json:
        emit([one.to_json() for one in found], json)
    if json != "-":
        print(f"{len(found)} hunts are proved.")


@group.command()
def sit(case: CaseFile, folder: Folder, name: Name = "", json: Json = None) -> None:
    """Begin: lay the folder, start the clock, and keep every save until the time is over.

    Work in your own editor meanwhile; `bugzoo hunt check DIR` tells pass or fail on the public bar, `bugzoo hunt done DIR`
    hands in. Ctrl-C stops the keeping, not the clock: `bugzoo hunt resume DIR` goes on.

    Example: `bugzoo hunt sit panel.case ada --name "Ada"`
    """
    from bugzoo.interview.hunt import case as cases
    from bugzoo.interview.hunt import sitting

    loaded = cases.load(case)
    sitting.sit(loaded, folder, name)
    print(f"{loaded.brief}\nThe folder: {folder.resolve()}")
    _keep(folder, json)


@group.command()
def resume(folder: Folder, json: Json = None) -> None:
    """Go on keeping saves, after Ctrl-C, a crash or a restart of the machine. The clock went on.

    Example: `bugzoo hunt resume ada`
    """
    from bugzoo.interview.hunt import desk
    from bugzoo.interview.hunt.sitting import told

    with told():
        desk.state(folder)
        if desk.finished(folder):
            raise UserError(f"{folder} is handed in already. `bugzoo hunt score CASE {folder}` scores it.")
        if not (folder / desk.HOME).is_dir():
            desk.begin(folder)
    _keep(folder, json)


def _keep(folder: Path, json: str | None) -> None:
    from bugzoo.interview.hunt import desk
    from bugzoo.interview.hunt.sitting import told

    with told():
        print(f"{desk.left(folder) / 60:.0f} minutes left. Every save is kept.", flush=True)
        try:
            ended = desk.keep(folder)
        except KeyboardInterrupt:
            desk.save(folder)
            print(f"\nStopped; the clock goes on. `bugzoo hunt resume {folder}` goes on keeping.")
            raise
    if json:
        emit({"folder": folder, "ended": ended}, json)
    if json != "-":
        print("Handed in." if ended == "done" else "The time is over; what was saved last counts.")


@group.command()
def check(
    folder: Folder,
    cache: Annotated[
        bool, typer.Option("--cache", help="The follow-up instead: `generate(ids, count)` with a key/value cache.")
    ] = False,
    json: Json = None,
) -> None:
    """The public bar: does the program come to its end and reach the number? Exit code 1 when it does not.

    Examples:

    - `bugzoo hunt check ada`
    - `bugzoo hunt check ada --cache`
    """
    from bugzoo.interview.hunt import desk
    from bugzoo.interview.hunt.sitting import told

    with told():
        desk.state(folder)
        if not (folder / desk.HOME).is_dir():
            raise UserError(f"{folder} was never begun. `bugzoo hunt resume {folder}` begins.")
        found = desk.check_cache(folder) if cache else desk.check(folder)
    if json:
        emit(found, json)
    if json != "-":
        print(("pass: " if found["passed"] else "fail: ") + found["saw"])
    raise typer.Exit(0 if found["passed"] else 1)


@group.command()
def done(folder: Folder, json: Json = None) -> None:
    """Hand in: what stands there now is what counts.

    Example: `bugzoo hunt done ada`
    """
    from bugzoo.interview.hunt import desk
    from bugzoo.interview.hunt.sitting import told

    with told():
        desk.state(folder)
        desk.done(folder)
    if json:
        emit({"folder": folder, "ended": "done"}, json)
    if json != "-":
        print("Handed in.")


@group.command()
def score(
    case: CaseFile,
    folder: Folder,
    method: Method = None,
    hints: Annotated[int, typer.Option(min=0, max=99, help="Hints of the sheet that were asked for; each costs.")] = 0,
    json: Json = None,
) -> None:
    """Score a hand-in: repaired bugs lead, judged by what the program does. For the interviewer: it names the bugs.

    Example: `bugzoo hunt score panel.case ada --method 7`
    """
    found = _scores(case, [folder], [method], [hints], json)[0]
    if json:
        emit(found.to_json(), json)
    if json != "-":
        rows = [
            [row.name, "open" if row.points is None else f"{row.points:g}", f"{row.of:g}" if row.of else "", row.why]
            for row in found.rows
        ]
        table(["", "points", "of", "why"], rows, f"{found.candidate or folder}: {found.points:g} of {found.of:g}")


@group.command()
def report(
    case: CaseFile,
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", parser=place, help="The candidates' folders.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", parser=place, help="The HTML file.")],
    method: Annotated[
        list[float] | None, typer.Option(min=0, max=10, help="Points for method, one for each folder.")
    ] = None,
    released: Annotated[bool, typer.Option("--for-candidate", help="Without the names of the bugs.")] = False,
    json: Json = None,
) -> None:
    """Candidates of one hunt side by side: scores, timelines of saves and checks, differences. One file, nothing is fetched.

    Example: `bugzoo hunt report panel.case ada bob -o panel.html --method 7 --method 4`
    """
    if method and len(method) != len(folders):
        raise UserError(
            f"--method is given {len(method)} times and there are {len(folders)} folders; give it once for each, or not."
        )
    if out.suffix not in (".html", ".htm"):
        raise UserError(f"-o {out}: the report is a page; name a file that ends in .html.")
    check_place(out)
    from bugzoo.interview.hunt import case as cases
    from bugzoo.interview.hunt.report import page

    given: list[float | None] = list(method) if method else [None] * len(folders)
    found = _scores(case, folders, given, [0] * len(folders), json)
    write_atomic(out, page(cases.load(case), found, folders, answers=not released))
    if json:
        emit([one.to_json() for one in found], json)
    if json != "-":
        print(f"written: {out}")


def _scores(
    case: Path, folders: list[Path], method: list[float | None], hints: list[int], json: str | None
) -> list[Any]:
    from bugzoo.interview.hunt import case as cases
    from bugzoo.interview.hunt import sitting
    from bugzoo.interview.hunt.score import hand_in

    loaded = cases.load(case)
    for folder in folders:
        sitting.of(loaded, folder)  # a wrong folder is told before anything is run
    found = []
    with progress("scored", json) as tell:
        for number, folder in enumerate(folders):
            tell(number, len(folders))
            found.append(hand_in(loaded, folder, method=method[number], hints=hints[number]))
        tell(len(folders), len(folders))
    return found


@group.command()
def packet(
    case: CaseFile,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", parser=place, help="A new folder.")],
    name: Name = "",
    json: Json = None,
) -> None:
    """The candidate's folder, which works without bugzoo, and apart from it the interviewer's sheet.

    `candidate/` holds the program, the brief and `hunt.py`, which keeps saves, minds the clock and tells the public bar;
    `interviewer/` the sheet (bugs, hints and their price, follow-ups with good and poor answers, a rubric), solution and case.

    Example: `bugzoo hunt packet panel.case -o panel_monday`
    """
    from bugzoo.interview.hunt import case as cases
    from bugzoo.interview.hunt.packet import pack

    written = pack(cases.load(case), out, name)
    if json:
        emit(written, json)
    if json != "-":
        for file in written:
            print(f"written: {file}")


@group.command()
def agent(
    context: typer.Context,
    case: CaseFile,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", parser=place, help="Keep the desk there, for `hunt report`; thrown away when left out."
        ),
    ] = None,
    json: Annotated[str | None, json_option("Write the last answer, which is the score, to this file as well.")] = None,
) -> None:
    """A hunt for a machine: one JSON object a line on stdin, one a line on stdout, before the judge that people have.

    - `{"do": "brief"}`, `{"do": "read", "file": "train.py"}`, `{"do": "write", "file": "train.py", "text": "..."}`
    - `{"do": "run", "seconds": 60}`, `{"do": "check"}`, `{"do": "done", "findings": "..."}`

    What it writes is run on this machine with your rights: give an agent that you do not trust a machine of its own.

    Example: `my_agent | bugzoo hunt agent panel.case`
    """
    import json as text
    import sys

    from bugzoo.interview.hunt import case as cases
    from bugzoo.interview.hunt.agent import serve

    if "stdin" in (context.obj or {}).get("closed", ()):
        raise UserError("stdin is closed, and a machine's requests are read there. Leave `<&-` out.")
    answer: dict[str, Any] = {}
    for answer in serve(cases.load(case), sys.stdin, folder):
        print(text.dumps(answer), flush=True)
    if json and json != "-":  # stdout has it already
        emit(answer, json)
