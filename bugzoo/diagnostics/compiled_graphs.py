"""Into how many graphs does torch.compile split the model, and how often does it recompile?

A compiled call is one graph, compiled once. If Python needs a number before it can go on, as in `if x.max() > 1`, the graph ends
and another begins after that line. `breaks` counts such lines. A compiled graph holds for the shapes and Python numbers that it
saw. Others make torch compile it again, up to eight times, and run it uncompiled from then on. `versions` is the number of
compilations for other shapes or numbers, of the piece that has most. Another mode, or a hook of the watch, does not count. Read
from torch's own metrics of the run. Both are 0 if nothing was compiled.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bugzoo import watching
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
VIEW = "time"
TITLE = "Compiled pieces of the model"
KNOWN_PROBLEMS = (
    "A false positive for five or more input shapes that are compiled once each on purpose, and for deliberate graph "
    "breaks. "
    "It misses recompiles whose reason is not an input, such as another grad mode, and says nothing about a saved trace."
)
_COMPILED = ("optimizer = torch", 'compiled = torch.compile(model, backend="eager", dynamic=False)\noptimizer = torch')
_CALLED = ("logits = model(", "logits = compiled(")
HEALTHY = example(_COMPILED, _CALLED)
SICK = example(_COMPILED, _CALLED, (".split(32)", ".split([30, 31, 32, 33, 34, 35, 61])"))
MANY = 4
"""The most shapes that are usual: training and evaluation, each with a shorter last batch."""
_RESUMED = "torch_dynamo_resume_in_"
_OWN = str(Path(watching.__file__).resolve().parents[1])
"""Instruments that run the loop once more are in this folder as well."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts, and the line of the first graph break."""

    breaks: float = number("lines at which a compiled graph ends", (0, 0))
    versions: float = number("compilations of one piece, for other shapes", (0, 4))
    file: str | None = None
    line: int | None = None


split = Alarm(
    ~below("breaks", 1),
    "The compiled pieces of the model were counted. The number of places at which it is split is {breaks:.0f}.",
    "It should be split nowhere ({usual[breaks]}).",
)
recompiled = Alarm(
    above("versions", MANY),
    "The compilations of the model were counted. One piece was compiled {versions:.0f} times.",
    "At most {limits[versions]:.0f} times passes.",
)
ALARMS = (split, recompiled)


def measure(run: Run) -> Numbers:
    """Counts, and the line of a graph break if there is one. Raises NotApplicable without the live run."""
    need_steps(run, 1)
    began, ended = live(run).began * 1e6, live(run).ended * 1e6
    compiler = sys.modules.get("torch._dynamo.utils")
    every = compiler.get_compilation_metrics() if compiler else []
    listed = [piece for piece in every if began <= (piece.start_time_us or 0) <= ended]
    pieces = [piece for piece in listed if piece.co_filename and not piece.co_filename.startswith(_OWN)]
    resumed = [piece for piece in pieces if piece.co_name.startswith(_RESUMED)]
    versions = Counter(
        str(piece.compile_id).split("/")[0] for piece in pieces if _by_input(piece.recompile_reason or "")
    )
    numbers = Numbers(
        breaks=float(len({piece.co_name for piece in resumed})), versions=float(max(versions.values(), default=0))
    )
    if resumed:
        numbers.file, numbers.line = resumed[0].co_filename, int(resumed[0].co_name.rsplit("_", 1)[-1])
    return numbers


def _by_input(reason: str) -> bool:
    """Was a piece compiled for the first time, or again because of its inputs?"""
    return not reason or "mismatch" in reason or "L['" in reason


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on graph breaks, and on more than 4 compilations of one piece."""
    breaks, versions = numbers.breaks, numbers.versions
    suspects: list[Suspect] = []
    if split(numbers):
        text = f"torch.compile breaks the model's graph at {breaks:.0f} line{'s' * (breaks > 1)} "
        text += f"(usually {Numbers.usual('breaks')})"
        suspects.append(Suspect("speed/graph_breaks", 0.6, text, numbers.file, numbers.line))
    if recompiled(numbers):
        text = f"torch.compile compiles one piece of the model {versions:.0f} times for other shapes or numbers "
        text += f"(usually {Numbers.usual('versions')})"
        suspects.append(Suspect("speed/recompiles", 0.6, text))
    message = (
        suspects[0].reason if suspects else "there are no graph breaks, and no piece is compiled more often than usual"
    )
    return Verdict("compiled_graphs", bool(suspects), message, numbers.labeled(), tuple(suspects))
