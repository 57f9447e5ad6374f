"""`run` and `break`: compare a broken program with its healthy twin, and put a fault into your own script."""

import math
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import path_argument, path_option, seed_option
from bugzoo.cli.catalogue import Faults
from bugzoo.cli.output import Json, console, emit, json_option, steps, table
from bugzoo.errors import UserError, unknown
from bugzoo.files import check_place, read_text, write_atomic
from bugzoo.printable import printable

Device = Annotated[str, typer.Option(help="cpu or cuda.")]


def check_device(device: str) -> None:
    """Raise UserError for a device that this machine does not have."""
    if device == "cpu":
        return
    if not re.fullmatch(r"cuda(:[0-9]{1,3})?", device):
        raise unknown("device", device, ("cpu", "cuda"), "bugzoo run --help")
    import torch

    if not torch.cuda.is_available():
        raise UserError("torch finds no CUDA device here. Leave --device out to run on the CPU.")
    count = torch.cuda.device_count()
    if int(device.partition(":")[2] or 0) >= count:
        raise UserError(f"There is no CUDA device {device}; the last one is cuda:{count - 1}.")


@app.command()
def run(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="A program; `bugzoo list programs` shows them.")],
    fault: Faults = None,
    seed: Annotated[int, seed_option("The seed of both runs.")] = 0,
    device: Device = "cpu",
    size: Annotated[str, typer.Option(help="full or tiny.")] = "full",
    picture: Annotated[Path | None, path_option("FILE", "Plot both runs: a .png, .svg or .pdf file.")] = None,
    json: Json = None,
) -> None:
    """Run a program with faults and its healthy twin (the same program without them), and print what instruments see.

    Examples:

    - `bugzoo run mlp --fault "numerics/log_at_step?step=50&eps=0" --picture nan.png`
    - `bugzoo run mlp --fault loop/stale_gradients --fault loss/double_softmax --seed 3`
    - `bugzoo run mlp --fault loss/double_softmax --json out.json`

    In the JSON, steps count from 1. Numbers that are not finite become the strings NaN, Infinity and -Infinity.
    """
    from bugzoo.scenario import Scenario

    scenario = Scenario(program, tuple(fault or ()), seed=seed, device=device, size=size)
    scenario.check_device()
    check_device(device)
    if picture and picture.suffix not in (".png", ".svg", ".pdf"):
        raise UserError(f"--picture {picture}: the file name must end in .png, .svg or .pdf.")
    if picture:
        check_place(picture)
    with steps(json) as tell:
        from bugzoo.proving.comparison import compare

        comparison = compare(scenario, tell)
    if picture:
        from bugzoo.plots.comparison import save

        save(comparison, picture, _title(comparison))
    if json:
        emit(comparison, json)
    if json != "-":
        report(comparison)
        for path in filter(None, (picture, json)):
            print(f"written: {path}")


def _title(found: dict[str, Any]) -> str:
    return f"{found['program']}, seed {found['seed']}: {' + '.join(found['faults']) or 'healthy'}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}" if math.isfinite(value) else str(value)


def report(found: dict[str, Any]) -> None:
    """Print the comparison as a table, then the verdict."""
    from rich.text import Text

    out = console()
    sides = [which for which in ("broken", "healthy") if found[which]]
    names = list(dict.fromkeys(name for which in sides for name in found[which]["metrics"]))

    def row(label: str, value: Any) -> list[str]:
        return [label, *(value(found[which]) for which in sides)]

    lines = [
        row("outcome", lambda side: side["outcome"]),
        row("steps", lambda side: str(len(side["losses"]))),
        row("first loss", lambda side: _number(next(iter(side["losses"]), None))),
        row("last loss", lambda side: _number(side["losses"][-1] if side["losses"] else None)),
        *(row(f"validation {name}", lambda side, name=name: _number(side["metrics"].get(name))) for name in names),
        row("seconds", lambda side: f"{side['seconds']:.1f}"),
    ]
    table(["", *sides], lines, _title(found))
    first, error = found["first_non_finite"], found["error"]
    if first:
        place = " ".join(str(first[key]) for key in ("direction", "op") if first.get(key))
        where = f", line {first['line']}" if first.get("line") else ""
        out.print(Text(f"First non-finite number: step {first['step']}, {first.get('module') or '?'} ({place}{where})"))
    if error:
        message = printable(str(error["message"] or ""))
        out.print(Text(f"{error['type']}: {message.splitlines()[0] if message else ''}"))
    main = found["broken"] or found["healthy"]
    out.print(Text("Verdict", style="bold"))
    for fired in main["fired"]:
        out.print(Text(f"  {fired['instrument']}: {fired['message']}"))
    if not main["fired"]:
        ending = "" if main["outcome"] == "finished" else f"; the run ended as {main['outcome']}"
        out.print(Text(f"  No instrument fires{ending}."))


@app.command("break")
def break_(
    script: Annotated[Path, path_argument("SCRIPT", "A training script of your own.")],
    fault: Faults = None,
    out: Annotated[Path | None, path_option("OUT", "The broken script to write.", "-o", "--out")] = None,
    at: Annotated[
        int | None, typer.Option(metavar="LINE", help="The line to change, if the fault fits several.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT if it exists.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the changed lines: a spoiler.")] = False,
    json: Annotated[str | None, json_option("Write the changes as JSON to this file, or print them.")] = None,
) -> None:
    """Put a fault into your own training script.

    Examples:

    - `bugzoo break train.py --fault loop/stale_gradients -o broken.py`
    - `bugzoo break train.py --fault loss/double_softmax --at 48 -o broken.py`
    """
    from bugzoo.scenario import break_source
    from bugzoo.syntax import source_lines

    if not fault:
        raise UserError("No fault is given: add --fault SPEC. `bugzoo list faults` lists them all.")
    if out is None and not diff and not json:
        raise UserError("No output is given: add -o OUT for the broken script, or --diff for the changes only.")
    text = read_text(script)
    lines = len(source_lines(text))
    if at is not None and not 1 <= at <= lines:
        raise UserError(f"--at {at} is not a line of {script}; its lines are 1 to {lines}.")
    injection = break_source(text, fault, script.name, at)
    if out is not None:
        if out.resolve() == script.resolve():
            raise UserError(f"{out} is the script itself. Name another file for the broken one.")
        if out.exists() and not force:
            raise UserError(f"{out} exists. Choose another name, or add --force to overwrite it.")
        write_atomic(out, injection.broken)
    from bugzoo.injection import diff as unified

    changes, count = unified(text, injection.broken, script.name), len(injection.edits)
    if json:
        emit({"script": script, "faults": fault, "written": out, "changes": count, "diff": changes}, json)
    elif diff:
        print(changes, end="")
    elif out is not None:
        print(f"written: {out} ({count} change{'s' * (count != 1)}; --diff shows them)")
