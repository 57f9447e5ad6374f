"""`incident`: long cases from real runs: a repository in which one commit broke the training, and folders of one night."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import check_faults, place, seed_option
from bugzoo.cli.command import App
from bugzoo.cli.output import emit, json_option, progress, table
from bugzoo.errors import UserError

group = App(
    no_args_is_help=True, help="Incidents: a folder with ticket, logs and code from real runs; you say what happened."
)
app.add_typer(group, name="incident")

Json = Annotated[str | None, json_option()]
Name = Annotated[str, typer.Argument(metavar="NAME", help="An incident of `bugzoo incident list`.")]
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", parser=place, help="The folder that `bugzoo incident make` wrote.")
]


@group.command(name="list")
def list_(json: Json = None) -> None:
    """The incidents that there are, and what a folder of each holds; what happened in them is not said.

    Example: `bugzoo incident list`
    """
    from bugzoo.incidents import library

    rows = library.listing()
    if json:
        emit(rows, json)
    if json != "-":
        table(
            ["name", "questions", "what you get", "about"],
            [[row["name"], str(row["questions"]), ", ".join(row["artefacts"]), row["about"]] for row in rows],
            f"{len(rows)} incidents",
        )


@group.command()
def make(
    name: Name,
    folder: Annotated[Path, typer.Argument(metavar="DIR", parser=place, help="A new folder.")],
    program: Annotated[str | None, typer.Option(help="The program whose history is written. [default: mlp]")] = None,
    fault: Annotated[
        str | None, typer.Option(metavar="SPEC", help="What broke it; a silent one is drawn when left out.")
    ] = None,
    commits: Annotated[int | None, typer.Option(help="From 12 to 40. [default: 20]")] = None,
    seed: Annotated[int, seed_option("Seed of its runs; of a history it says which commits there are as well.")] = 0,
    json: Json = None,
) -> None:
    """Make the folder of an incident from real runs, and the sealed answers beside it, `DIR.answers`.

    `used-to-train` is a git repository in which one commit broke the training and one does not run. Every commit is run
    before the folder is written: good before the fault, bad from it on, on five seeds where it came in.

    Examples:

    - `bugzoo incident make used-to-train --program mlp --commits 20 --seed 3 DIR`
    - `bugzoo incident make used-to-train --program mlp --fault loop/stale_gradients DIR`
    """
    from bugzoo.incidents import library

    library.check(name)
    if name != library.HISTORY:
        if given := [
            word for word, value in (("--program", program), ("--fault", fault), ("--commits", commits)) if value
        ]:
            raise UserError(f"{given[0]} belongs to {library.HISTORY} alone; {name} says itself what it is made from.")
        with progress(f"runs of {name}", json) as tell:
            made = library.make(name, folder, seed, tell)
    else:
        from bugzoo.incidents import bisecting

        check_faults([fault] if fault else [], program)
        with progress("runs of the history", json) as tell:
            made = bisecting.make(folder, program or "mlp", fault, 20 if commits is None else commits, seed, tell)
    if json:
        emit(made, json)
    if json != "-":
        print(f"{folder}: begin with TICKET.md. The answers are sealed in {Path(made['answers']).name} beside it.")


@group.command()
def check(
    folder: Folder,
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="A commit, a number, or the word of a choice.")],
    question: Annotated[int, typer.Option("--question", "-q", help="Which question of the ticket, from 1.", min=1)] = 1,
    json: Json = None,
) -> None:
    """Is this answer right? Exit code 0 when it is, 1 when it is not.

    Examples:

    - `bugzoo incident check DIR 3f2a9c1`
    - `bugzoo incident check DIR --question 2 118`
    """
    from bugzoo.incidents import judge

    right = judge.check(folder, answer, question)
    if json:
        emit({"folder": folder, "question": question, "answer": answer, "right": right}, json)
    if json != "-":
        print("right" if right else "wrong")
    raise typer.Exit(0 if right else 1)


@group.command()
def reveal(folder: Folder, json: Json = None) -> None:
    """What happened, and the answer to every question.

    Example: `bugzoo incident reveal DIR`
    """
    from bugzoo.incidents import sealed

    found: dict[str, Any] = sealed.read(folder)
    if json:
        emit(found, json)
    if json != "-":
        for number, question in enumerate(found["questions"], 1):
            print(f"{number}. {question['text']} {question['answer']}. {question['why']}")
        print("\n".join(["", *found["told"]]))


@group.command()
def prove(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Incidents of `bugzoo incident list`.")],
    json: Json = None,
) -> None:
    """Make incidents twice and compare their answers; exit code 1 where they differ. For who works on bugzoo.

    What holds is written to `proofs/incidents/NAME.json`.

    Example: `bugzoo incident prove night-run-stands`
    """
    from bugzoo.incidents import library, proofs

    for name in names:
        library.check(name)
    rows = []
    for name in names:
        with progress(name, json) as tell:
            rows.append(proofs.prove(name, tell))
        if json != "-":
            problems = rows[-1]["problems"]
            print(f"{name}: {'; '.join(problems) if problems else 'holds'}", flush=True)
    if json:
        emit(rows, json)
    raise typer.Exit(1 if any(row["problems"] for row in rows) else 0)
