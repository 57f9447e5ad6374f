"""`verify`, `check` and `checkup`: the catalogue, the exercises and a script of one's own, put to the proof."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.output import console, emit, json_option, table
from bugzoo.cli.runs import Device, check_device, read_script

Json = Annotated[str | None, json_option()]


def counting(label: str) -> Any:
    """A progress function (done, all) that writes to stderr: one line that moves, or every tenth part in a log."""
    moving = sys.stderr.isatty()
    shown = [-1]

    def tell(done: int, of: int) -> None:
        if moving:
            print(f"\r\x1b[K{label}: {done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)
        elif of and done * 10 // of != shown[0]:
            shown[0] = done * 10 // of
            print(f"{label}: {done} of {of}", file=sys.stderr, flush=True)

    return tell


@app.command()
def verify(
    faults: Annotated[list[str] | None, typer.Argument(metavar="[FAULT]...", help="All faults when left out.")] = None,
    program: Annotated[list[str] | None, typer.Option(help="Only on this program; may be repeated.")] = None,
    device: Device = "cpu",
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what is known already.")] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the matrix: a .png or .svg file.")] = None,
    json: Json = None,
) -> None:
    """Prove faults by real runs: five matched seeds each, broken beside healthy.

    The evidence must fire on every broken run and on no healthy one, and the effect must have one sign on all seeds.
    Exit code 1 when something is not proved. What was measured is kept, so that a second call costs only what changed.

    Examples:

    - `bugzoo verify`
    - `bugzoo verify loop/stale_gradients --program mlp`
    - `bugzoo verify --device cuda --json results.json`
    """
    check_device(device)
    from bugzoo.proving.verify import verify as prove

    report = prove(faults or (), program or (), device=device, progress=counting("runs"), fresh=fresh)
    if json:
        emit(report.to_json(), json)
    if picture:
        from bugzoo.proving.picture import draw

        draw(report.to_json(), picture)
    if json != "-":
        _matrix(report)
    raise typer.Exit(0 if report.ok else 1)


def _matrix(report: Any) -> None:
    lines, said = [], []
    for cell in report.cells:
        state = "skipped" if cell.skipped else "proved" if cell.proved else "NOT PROVED"
        lines.append([cell.fault, cell.program, state, ", ".join(cell.fired) or "-"])
        said += [f"{cell.fault} on {cell.program}: {text}" for text in filter(None, [*cell.problems, cell.skipped])]
    for control in report.controls:
        lines.append(["(healthy)", control.program, "healthy" if not control.problems else "SICK", "-"])
        said += [f"healthy {control.program}: {text}" for text in control.problems]
    table(["fault", "program", "result", "instruments that fire"], lines)
    for text in said:
        print(text)
    print(f"{report.runs} runs ({report.cached} known already) in {report.seconds:.1f} s")


@app.command()
def checkup(
    target: Annotated[Path, typer.Argument(metavar="TARGET.py", help="A training script; it is run once or more.")],
    seconds: Annotated[float, typer.Option(help="Stop the script after so long.")] = 60,
    json: Json = None,
) -> None:
    """Run a training script under every instrument that applies, and rank the suspects.

    The script runs in a process of its own, which is ended when the time is over. Exit code 0 whatever is found.

    Examples:

    - `bugzoo checkup train.py`
    - `bugzoo checkup --seconds 120 --json report.json train.py`
    """
    read_script(target)
    from bugzoo.diagnostics.checkup import checkup as examine

    report = examine(target, seconds=seconds)
    found = report.to_json()
    if json:
        emit(found, json)
    if json == "-":
        return
    from rich.text import Text

    out = console()
    headline = {
        "found": "Suspects, the likeliest first:",
        "nothing": "Nothing found.",
        "unjudged": "This script could not be judged.",
    }
    out.print(Text(headline[found["outcome"]], style="bold"))
    if found["suspects"]:
        lines = [
            [s["cause"], f"{s['score']:.2f}", s["evidence"], f"line {s['line']}" if s.get("line") else ""]
            for s in found["suspects"]
        ]
        table(["cause", "score", "what was seen", "where"], lines)
    if found["not_checked"]:
        out.print(Text("Not checked:"))
        for item in found["not_checked"]:
            text = " - ".join(str(part) for part in item.values()) if isinstance(item, dict) else str(item)
            out.print(Text(f"  {text}"))
