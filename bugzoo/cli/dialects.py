"""`dialects`: other ways to write a program, on which programs they fit, and the proof that they train alike."""

from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.command import App
from bugzoo.cli.output import emit, json_option, progress, table

Json = Annotated[str | None, json_option()]
group = App(help="Other ways to write a program: which ones there are, and the proof that they train alike.")
app.add_typer(group, name="dialects")


@group.callback(invoke_without_command=True)
def table_of_all(context: typer.Context, json: Json = None) -> None:
    """Dialects: rewritings of a program's text that change nothing that it does.

    Examples:

    - `bugzoo dialects` shows them, and how many fit each program
    - `bugzoo dialects check mlp` proves by runs that those of one program train alike
    - `bugzoo source mlp --dialect 7` prints a program in a combination drawn from a number
    """
    if context.invoked_subcommand is not None:
        return
    from bugzoo import dialects
    from bugzoo.proving import dialects as proofs

    fits = {program: proofs.single(program) for program in proofs.programs_of(None)}
    rows = [
        {
            "id": name,
            "kind": dialects.load(name).KIND,
            "about": dialects.about(name),
            "programs": [program for program, found in fits.items() if name in found],
        }
        for name in dialects.names()
    ]
    counts = [
        {"program": program, "dialects": len(found), "proved": sum(found.values())} for program, found in fits.items()
    ]
    if json:
        emit({"dialects": rows, "programs": counts}, json)
        return
    lines = [[row["id"], row["kind"], str(len(row["programs"])), row["about"]] for row in rows]
    table(["dialect", "kind", "programs", "what it rewrites"], lines, f"{len(rows)} dialects")
    table(["program", "dialects that fit", "proved"], [[str(cell) for cell in row.values()] for row in counts])


@group.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[PROGRAM]...", help="Programs; all when left out.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is proved already.")] = False,
    json: Json = None,
) -> None:
    """Run programs in their dialects beside the originals: every loss, metric and weight must be the same, bit by bit.

    Each dialect alone, combinations of several, and combinations on broken programs. Exit code 1 when something differs.
    What holds is written into `proofs/dialects/`, a program at a time; only what is not there is run.

    Examples:

    - `bugzoo dialects check`
    - `bugzoo dialects check mlp finetune --fresh`
    """
    from bugzoo.proving import dialects as proofs

    rows: list[dict[str, Any]] = []
    for program in proofs.programs_of(names):
        with progress(program, json) as tell:
            found = proofs.check(program, fresh=fresh, progress=tell)
        rows += [{"program": program, "what": what} | entry for what, entry in found.items()]
        wrong = [row for row in rows if row["program"] == program and row["problems"]]
        if json != "-":
            for row in wrong:
                print(f"{program}, {row['what']}: {'; '.join(row['problems'])}")
            few = proofs.too_few(program)
            print(f"{program}: {len(found) - len(wrong)} of {len(found)} rewritings train alike{few}", flush=True)
    if json:
        emit(rows, json)
    raise typer.Exit(1 if any(row["problems"] for row in rows) else 0)
