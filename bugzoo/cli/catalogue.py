"""`list`, `show`, `source` and `new`: look things up in the catalogue, and add to it."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import path_option, seed_option
from bugzoo.cli.command import App
from bugzoo.cli.output import Json, console, emit, table
from bugzoo.errors import UserError

Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault", "-f", metavar="SPEC", help="`family/name` or `family/name?param=value&param=value`. Repeatable."
    ),
]


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]", help="faults, programs, instruments, exercises, contracts, or a family such as loop."
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List every fault, not only the families.")] = False,
    json: Json = None,
) -> None:
    """List families of faults, programs, instruments and exercises.

    `contracts` are what library calls demand without checking it; `checkup` listens for them.

    Examples:

    - `bugzoo list`
    - `bugzoo list --all`
    - `bugzoo list optimizer`
    - `bugzoo list contracts`
    - `bugzoo list --json` prints an array of objects with `id`, `kind`, `title`
    """
    from bugzoo.proving import listing

    families = listing.families()
    rows = listing.rows("faults" if kind in families else kind)
    if kind in families:
        rows = [row for row in rows if row["id"].startswith(f"{kind}/")]
    if json:
        emit(rows, json)
        return
    kinds = ("fault", "trap", "program", "instrument", "exercise", "contract")
    of = {name: [row for row in rows if row["kind"] == name] for name in kinds}
    broken = of["fault"] + of["trap"]
    if broken and kind is None and not every:
        lines = [[name, str(len(members)), families[name]] for name, members in listing.by_family(broken).items()]
        table(["family", "faults", "what goes wrong there"], lines, f"{len(broken)} faults in {len(lines)} families")
        console().print("`bugzoo list FAMILY` lists the faults of one family, `bugzoo list --all` all of them.\n")
    elif broken:
        lines = [[r["id"], str(r["level"]), r["symptom"], r["title"]] for r in broken]
        table(["fault", "level", "symptom", "title"], lines, f"{len(broken)} faults")
    if of["program"]:
        lines = [[r["id"], r["facts"].get("task", ""), r["title"]] for r in of["program"]]
        table(["program", "task", "title"], lines, f"{len(lines)} programs")
    if of["instrument"]:
        costs = {0: "reads the run", 1: "calls the model"}
        lines = [[r["id"], "re-runs it" if r["reruns"] else costs[r["cost"]], r["title"]] for r in of["instrument"]]
        table(["instrument", "cost", "question it answers"], lines, f"{len(lines)} instruments")
    if of["exercise"]:
        lines = [[r["id"], str(r["level"]), str(r["minutes"]), r["title"]] for r in of["exercise"]]
        table(["exercise", "level", "minutes", "title"], lines, f"{len(lines)} exercises")
    if of["contract"]:
        lines = [[r["id"].partition("/")[2], r["title"]] for r in of["contract"]]
        table(["contract", "what the library asks for"], lines, f"{len(lines)} contracts")
    if not rows:
        console().print(f"No {kind} yet.")


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A fault, program, instrument, exercise or contract.")],
    json: Json = None,
) -> None:
    """Explain one fault, program, instrument, exercise or contract. A fault's page is a spoiler: cause, fix, evidence.

    Examples:

    - `bugzoo show loop/stale_gradients`
    - `bugzoo show mlp`
    - `bugzoo show gradient_health`
    - `bugzoo show contracts/ctc_blank`
    """
    from bugzoo.proving import listing

    row = listing.detail(name)
    if json:
        emit(row, json)
        return
    printers = {"program": _program, "instrument": _instrument, "exercise": _exercise, "contract": _contract}
    printers.get(row["kind"], _fault)(row)


def _say(*lines: str) -> None:
    from rich.text import Text

    for line in lines:
        console().print(Text(line))


def _head(title: str) -> None:
    from rich.text import Text

    console().print(Text(title, style="bold"))


def _part(label: str, text: str) -> None:
    _say("")
    _head(label)
    _say(text)


def _fault(row: dict[str, Any]) -> None:
    _head(f"{row['id']}: {row['title']}")
    _say(f"level {row['level']} · symptom {row['symptom']} · programs {', '.join(row['programs'])}")
    for label, text in (("symptom", row["report"]), ("why", row["why"]), ("fix", row["fix"])):
        _part(label, text)
    if row["params"]:
        lines = [[n, f"{p['default']:g}", f"{p['low']:g} to {p['high']:g}", p["doc"]] for n, p in row["params"].items()]
        table(["parameter", "default", "range", "meaning"], lines, "\nparameters")
    else:
        _say("")
    _head("proved by")
    _say(*(f"  {text}" for text in row["evidence"]), f"  effect: {row['effect']}")
    if row["look_alikes"]:
        from bugzoo.proving import listing

        ids = {fault["id"] for fault in listing.rows("faults")}
        lines = []
        for entry in row["look_alikes"]:
            other = entry["other"] if entry["other"] in ids else f"{entry['other']} (not in the catalogue)"
            lines.append([other, *(entry[part].replace("`", "") for part in ("test", "here", "there"))])
        table(["looks like", "what tells them apart", "here", "there"], lines, "\nlook-alikes")
    if row["not_on"]:
        lines = [list(entry) for entry in row["not_on"].items()]
        table(["program", "why it does not show"], lines, "\nwhere it does not show")
    if row["sources"]:
        _head("seen at")
        _say(*(f"  {text}" for text in row["sources"]))
    _say("", f'Try it: bugzoo run {row["plainest"]} --fault "{row["id"]}"')


def _program(row: dict[str, Any]) -> None:
    _head(row["id"])
    _say(row["doc"].split("[facts]")[0].strip())
    table(["fact", "value"], [[name, str(value)] for name, value in row["facts"].items()], "\nfacts")
    table(["setting", "value"], [[name, repr(value)] for name, value in row["settings"].items()], "settings")
    _say(f"Read it: bugzoo source {row['id']}    Run it: bugzoo run {row['id']}")


def _instrument(row: dict[str, Any]) -> None:
    _head(row["id"])
    _say(row["doc"] or row["title"], "")
    _head("known problems")
    _say(row["known_problems"])


def _exercise(row: dict[str, Any]) -> None:
    _head(row["id"])
    _say(row["title"], f"level {row['level']} of 5, about {row['minutes']} minutes", row["file"])
    _say("Work on it: bugzoo lab my_lab")


def _contract(row: dict[str, Any]) -> None:
    _head(row["id"])
    _say(row["title"], "", "seen at: " + ", ".join(row["calls"]))
    parts = {"do instead": "instead", "broken": "breaks", "kept": "keeps", "where it may be wrong": "wrong"}
    for label, name in parts.items():
        _part(label, row[name])
    rule = row["id"].partition("/")[2]
    _say("", row["page"], f"On purpose? Put this behind the line: # bugzoo: ok {rule} REASON")


@app.command()
def source(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="A program; `bugzoo list programs` shows them.")],
    fault: Faults = None,
    seed: Annotated[int, seed_option("The seed that the script sets.")] = 0,
    size: Annotated[str, typer.Option(help="full or tiny.")] = "full",
    diff: Annotated[bool, typer.Option("--diff", help="Print only the lines that the faults change.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask, even if an exercise on this program is open.")
    ] = False,
    json: Json = None,
) -> None:
    """Print a program's source code, healthy or with faults in it.

    If you have begun an exercise on this program without submitting a diagnosis, it asks first. The healthy code would
    give the answer away.

    Examples:

    - `bugzoo source mlp > train.py`
    - `bugzoo source mlp --fault loop/stale_gradients --diff`
    """
    from bugzoo.scenario import Scenario

    scenario = Scenario(program, tuple(fault or ()), seed=seed, size=size)
    if not yes:
        _ask_first(program)
    if json:
        faults = list(scenario.faults)
        emit({"program": program, "faults": faults, "source": scenario.source, "diff": scenario.diff()}, json)
        return
    print(scenario.diff() if diff else scenario.source, end="")


def _ask_first(program: str) -> None:
    """Raise UserError if an exercise on this program is open and the user does not confirm."""
    from bugzoo.record import opened

    open_ones = sorted({note.get("exercise", "an assignment") for note in opened() if note.get("program") == program})
    if not open_ones:
        return
    named = " and ".join(open_ones)
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        print(f"You have begun {named} on this program without a diagnosis. Its source would give the answer away.")
        if typer.confirm("Print it anyway?"):
            return
    problem = f"You have begun {named} on {program}: its source would give the answer away."
    raise UserError(f"{problem} Submit a diagnosis first, or add --yes.")


new = App(no_args_is_help=True, rich_markup_mode="markdown", help="Write a stub to add something to bugzoo.")
app.add_typer(new, name="new")


@new.command("fault")
def new_fault(
    name: Annotated[str, typer.Argument(metavar="FAMILY/NAME", help="Name the mistake, e.g. loop/step_missing.")],
    folder: Annotated[
        Path | None, path_option("DIR", "The package of your own fault pack. Default: bugzoo's own catalogue.")
    ] = None,
    json: Json = None,
) -> None:
    """Write the file of a new fault, with every field and a note on what belongs in it.

    Example: `bugzoo new fault loop/step_on_tuesdays`
    """
    from bugzoo.proving.stubs import write_fault

    path = write_fault(name, folder)
    if json:
        emit({"file": path}, json)
        return
    _say(
        f"{path}",
        "",
        "Next:",
        "  1. fill in the fields; the docstring is the symptom as a learner would report it",
        f'  2. bugzoo source mlp --fault "{name}" --diff     does it change the right lines?',
        f'  3. bugzoo run mlp --fault "{name}"               does the symptom show?',
        f"  4. bugzoo verify {name}                          is it proved on five seeds?",
    )


def _new(one: str, example: str) -> None:
    """Add the command `bugzoo new KIND`. `one` is the kind with its article."""
    kind = one.split()[1]

    def make(name: Annotated[str, typer.Argument(metavar="NAME", help=f"E.g. {example}.")], json: Json = None) -> None:
        from bugzoo.proving.stubs import KINDS, write

        path = write(kind, name)
        if json:
            emit({"file": path}, json)
            return
        then = [f"  {place}. {text.format(name=name)}" for place, text in enumerate(KINDS[kind].then, 1)]
        _say(f"{path}", "", "Next:", *then)

    about = f"Write {one} that works as it is, for you to change."
    make.__doc__ = f"{about}\n\nExample: `bugzoo new {kind} {example}`"
    new.command(kind)(make)


for _one, _example in (
    ("a program", "tabular_mlp"),
    ("an instrument", "loss_gain"),
    ("an exercise", "08_slow_start"),
    ("a lesson", "04_silent_bugs"),
):
    _new(_one, _example)
