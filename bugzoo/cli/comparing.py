"""`differ`: when did a script begin to differ from its healthy twin?"""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import finite, place
from bugzoo.cli.output import emit, json_option
from bugzoo.errors import UserError


@app.command(context_settings={"allow_extra_args": True})
def differ(
    context: typer.Context,
    here: Annotated[
        Path,
        typer.Argument(metavar="HERE.py", parser=place, help="A training script, train.py@REVISION, or a trace.npz."),
    ],
    there: Annotated[
        Path,
        typer.Argument(metavar="THERE.py", parser=place, help="Its twin, of the same kinds: what it was before, say."),
    ],
    steps: Annotated[int | None, typer.Option(help="Compare so many steps at most.", min=1)] = None,
    seconds: Annotated[float, typer.Option(help="For all of it: two runs and what is run again.")] = 120,
    tolerance: Annotated[
        float, typer.Option(help="Numbers count as equal that are apart by this part of the larger one at most.")
    ] = 0,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """When did this run begin to differ from its twin, and what differed first: batch, weights, loss, gradient, update?

    Both run one after the other in a process of their own, on one thread, with the same random state to begin with. States
    that are kept on the way are compared, and single steps run again, until the first that differs is found. What follows
    `--` are the arguments of both. Exit code 0 whatever is found; 2 for bad input, which a script without a step is as well.

    `train.py@HEAD~1` is the file as git has it at that revision, with the files that it had for neighbours then. A trace that
    `trace.save(...)` wrote stands for a run: of its steps there are the numbers, and neither batches, weights nor lines.

    What a script computes from a model's outputs is compared where it is in a dict `metrics`.

    Examples:

    - `bugzoo differ train.py healthy.py`
    - `bugzoo differ train.py train.py@HEAD~1`
    - `bugzoo differ train.py monday.npz --tolerance 1e-5`
    - `bugzoo differ --steps 500 train.py healthy.py --json differ.json -- --epochs 2`
    """
    finite("--seconds", seconds, 0)
    if not 0 <= tolerance < 1:
        raise UserError(f"--tolerance {tolerance:g} is not allowed; it is a number from 0 on, below 1.")
    with ExitStack() as stack:
        found = _compared(stack, (here, there), tuple(context.args), steps, seconds, tolerance)
    if json:
        emit(found, json)
    if json != "-":
        print(f"here {here}, there {there}\n{found['message']}")
        if found["note"]:
            print(found["note"])


def _compared(
    stack: ExitStack,
    given: tuple[Path, Path],
    argv: tuple[str, ...],
    steps: int | None,
    seconds: float,
    tolerance: float,
) -> dict[str, Any]:
    from bugzoo.diagnostics.checkup import read
    from bugzoo.running import revisions, twins
    from bugzoo.watching.trace import Trace

    if argv and all(map(twins.saved, given)):
        raise UserError(f"Both sides are saved traces, and no script is run that could take {argv[0]!r}; leave it out.")
    paths, names, sources = list[Path](), dict[str, str](), list[str]()
    for one in given:
        asked = revisions.asked_for(str(one))
        if asked is not None:
            copy = stack.enter_context(revisions.checked_out(*asked))
            names[str(copy.folder)] = copy.name
            one = copy.file
        if twins.saved(one):
            Trace.load(one)
        paths.append(one)
        sources.append("" if twins.saved(one) else read(one))
    found = twins.differ(
        paths[0],
        paths[1],
        (sources[0], sources[1]),
        argv,
        steps,
        seconds,
        tolerance,
        names,
        (str(given[0]), str(given[1])),
    )
    return found | {"note": _note(given, list(map(twins.saved, given)), found["differs"])}


def _note(given: tuple[Path, Path], saved: list[bool], differs: bool) -> str:
    """What a saved trace cannot be asked, in words; "" where both sides were run."""
    if not any(saved):
        return ""
    which = " and ".join(str(one) for one, flag in zip(given, saved, strict=True) if flag)
    text = f"  ({which}: a saved trace has the numbers of each step. Which batch, weight, gradient or line differs cannot be "
    text += "asked of it."
    if differs and not all(saved):
        text += (
            " It was made from its own random state, and perhaps on several threads: a script that sets no seed differs from "
            "step 1 on, and --tolerance 1e-5 lets roundings pass."
        )
    return text + ")"
