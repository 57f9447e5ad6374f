"""`verify` and `pairs`: prove faults, and combinations of faults, by real runs."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import Executor, check_faults, path_option
from bugzoo.cli.output import Json, emit, progress, table
from bugzoo.cli.runs import Device, check_device
from bugzoo.errors import UserError
from bugzoo.files import check_place


@app.command()
def verify(
    faults: Annotated[list[str] | None, typer.Argument(metavar="[FAULT]...", help="Default: all faults.")] = None,
    program: Annotated[list[str] | None, typer.Option(help="Only on this program. Repeatable.")] = None,
    device: Device = "cpu",
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure everything again and ignore stored results.")] = False,
    backlog: Annotated[
        bool,
        typer.Option("--backlog", help="Also do work that can wait: first proofs, gradings, results of older code."),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Measure N entries of the ledger again (always the same N) and compare."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Start long work without asking.")] = False,
    picture: Annotated[Path | None, path_option("FILE", "Plot the matrix: a .png or .svg file.")] = None,
    executor: Executor = None,
    json: Json = None,
) -> None:
    """Prove faults by real runs: broken and healthy, on five matched seeds each.

    The evidence must fire on every broken run and on no healthy one. The effect must have the same sign on all seeds.
    Each repair in the fault's file must pass the grader, and each pretence must fail. The test for each look-alike must
    separate the two. Exit code 1 when something is not proved.

    In a checkout, proofs are stored in `proofs/` until the text of the fault or the program changes. More than two
    minutes of work starts only when you confirm. Ctrl-C keeps the results so far.

    Examples:

    - `bugzoo verify`
    - `bugzoo verify loop/stale_gradients --program mlp`
    - `bugzoo verify --sample 150`
    - `bugzoo verify --device cuda --json results.json`
    - `bugzoo verify --fresh --executor tcp://127.0.0.1:8786`
    """
    for name in program or (None,):
        check_faults(faults or (), name)  # unknown names are reported before torch is loaded
    if picture:
        if picture.suffix not in (".png", ".svg"):
            raise UserError(f"--picture {picture}: the file name must end in .png or .svg.")
        check_place(picture)
    check_device(device)
    if sample:
        options = {"--fresh": fresh, "--backlog": backlog, "--picture": picture, "--executor": executor}
        options |= {"--device cuda": device != "cpu"}
        restricted = [*(faults or ()), *(program or ()), *(name for name, setting in options.items() if setting)]
        _sample(sample, restricted, json)
        return
    from bugzoo.running import connected

    with connected(executor) as pool:
        from bugzoo.proving.verify import verify as prove

        with progress("runs", json) as tell:
            report = prove(
                faults or (),
                program or (),
                device=device,
                executor=pool,
                progress=tell,
                fresh=fresh,
                backlog=backlog,
                compared=_comparing,
                ask=lambda plan: _agree(plan, yes),
            )
    if json:
        emit(report.to_json(), json)
    if picture:
        from bugzoo.proving.picture import draw

        draw(report.to_json(), picture)
    if json != "-":
        _matrix(report, briefly=not (faults or program or report.runs or report.graded or picture))
    raise typer.Exit(0 if report.ok else 1)


LONG = 2.0
"""Minutes of work that start without a question."""


def _comparing(done: int, of: int) -> None:
    if not done and of > 20:
        typer.echo(f"Building the scripts of {of} cells, to compare with the ledger: up to a minute.", err=True)


def _agree(plan: Any, yes: bool) -> None:
    """Print what will run and why, and ask before long work. Raises UserError without a terminal, Abort for a no."""
    minutes = f"about {plan.minutes:.0f} min" if plan.minutes < 90 else f"about {plan.minutes / 60:.1f} h"
    typer.echo(f"To do: {plan.runs} runs and {plan.gradings} gradings, {minutes} on this machine.", err=True)
    for reason, some in plan.by_reason().items():
        typer.echo(f"  {len(some)} because {reason}: {', '.join(some[:3])}{' ...' if len(some) > 3 else ''}", err=True)
    if yes or plan.minutes <= LONG:
        return
    if not sys.stdin.isatty():
        raise UserError(f"This takes {minutes}, and there is no terminal for a question. Add --yes to start.")
    typer.confirm("Start?", abort=True, err=True)


def _sample(count: int, restricted: list[str], json: str | None) -> None:
    if restricted:
        raise UserError(f"--sample draws from the whole ledger. Leave out {restricted[0]}, or leave out --sample.")
    from bugzoo.proving import coverage

    with progress("entries", json) as tell:
        repeated, problems = coverage.sample(count, coverage.SEED, tell)
    if json:
        emit({"ok": not problems, "done": repeated, "problems": problems}, json)
    if json != "-":
        for text in problems:
            print(text)
        print(f"{len(repeated)} entries measured again (seed {coverage.SEED}), {len(problems)} differ from the ledger")
    raise typer.Exit(1 if problems else 0)


@app.command()
def pairs(
    faults: Annotated[
        list[str] | None, typer.Argument(metavar="[FAULT]...", help="Only combinations with all of these faults.")
    ] = None,
    program: Annotated[list[str] | None, typer.Option(help="Only on this program. Repeatable.")] = None,
    prove: Annotated[
        bool, typer.Option("--prove", help="Measure combinations that are not in the ledger yet.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure all of them again.")] = False,
    json: Json = None,
) -> None:
    """Show which faults can be combined in one script, and which fault masks another.

    Measured on three seeds: every fault's evidence fires in the combination, and stops when that fault alone is
    repaired. A fault may also stand with a decoy, a harmless trap: with it every instrument says what it says without
    it, and taking it away makes nothing better. `bugzoo assign` proves other combinations, and refuses those with a
    known masking. Exit code 1 when a combination in the list has not been measured.

    Examples:

    - `bugzoo pairs`
    - `bugzoo pairs loss/double_softmax --program mlp`
    - `bugzoo pairs traps/log_softmax_first`
    - `bugzoo pairs --prove`
    """
    for name in program or (None,):
        check_faults(faults or (), name)
    from bugzoo.instructor import combinations

    with progress("combinations read", json) as tell:
        chosen = combinations.listed(faults or (), program or (), tell)
    if prove or fresh:
        with progress("combinations", json) as tell:
            combinations.prove(chosen, tell, fresh)
    if json:
        fields = ("program", "faults", "known", "problems", "hidden")
        emit([{name: getattr(combination, name) for name in fields} for combination in chosen], json)
    if json != "-":
        _pairs(chosen)
    raise typer.Exit(0 if all(combination.known for combination in chosen) else 1)


def _pairs(chosen: list[Any]) -> None:
    if not chosen:
        print("No combination in the list has these faults. `bugzoo assign` proves one of your own.")
        return
    lines = []
    for combination in chosen:
        hidden = "; ".join(f"{' and '.join(others)} masks {name}" for name, others in combination.hidden.items())
        shows = "the decoy is harmless" if combination.decoy else "each fault shows"
        verdict = "not measured" if not combination.known else hidden or "; ".join(combination.problems) or shows
        lines.append([combination.program, " + ".join(combination.faults), verdict])
    usable = sum(combination.known and not combination.problems for combination in chosen)
    table(["program", "faults", "measured result"], lines, f"{usable} of {len(chosen)} combinations can be used")
    if any(not combination.known for combination in chosen):
        print("Type `bugzoo pairs --prove` to measure the others.")


def _matrix(report: Any, briefly: bool = False) -> None:
    """Print the report as a table. With `briefly`, when nothing ran: only unproved results and counts."""
    lines, sentences = [], []
    for cell in report.cells:
        state = "skipped" if cell.skipped else "proved" if cell.proved else "NOT PROVED"
        lines.append([cell.fault, cell.program, state, ", ".join(cell.fired) or "-"])
        about = f"{cell.fault} on {cell.program}"
        sentences += [f"{about}: {text}" for text in filter(None, [*cell.problems, cell.skipped])]
        sentences += [f"{about} is not graded: {cell.not_graded}"] if cell.not_graded else []
    for program in dict.fromkeys(control.program for control in report.controls):
        matches = [control for control in report.controls if control.program == program]  # one for each set of settings
        sick = sum(bool(control.problems) for control in matches)
        state = f"NOT HEALTHY in {sick} of {len(matches)} settings" if sick else "healthy"
        fired = sorted({name for control in matches for name in control.fired})
        lines.append(["(healthy)", program, state, ", ".join(fired) or "-"])
        sentences += [f"healthy {program}: {text}" for control in matches for text in control.problems]
    if not briefly:
        table(["fault", "program", "result", "instruments that fire"], lines)
    sentences += [f"{pair.fault} and {pair.other}: {text}" for pair in report.look_alikes for text in pair.problems]
    for text in sentences:
        print(text)
    if report.believed:
        of = len(report.cells) + len(report.controls) + len(report.look_alikes)
        print(f"{report.believed} of {of} results are taken from the ledger")
    if graded := sum(cell.graded for cell in report.cells):
        print(f"{graded} repairs, pretences and attacks, {report.graded} of them graded now")
    if briefly:
        print("Nothing has changed. The table is in proofs/matrix.md.")
    print(f"{report.runs} runs ({report.cached} from the cache) in {report.seconds:.1f} s")
