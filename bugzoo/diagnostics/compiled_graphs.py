"""Into how many graphs does torch.compile split the model, and how often does it recompile?

A compiled call is one graph, compiled once. If Python needs a number before it can go on, as in `if x.max() > 1`, the graph ends
and another begins after that line. `breaks` counts such lines. A compiled graph holds for the shapes and Python numbers that it
saw. Others make torch compile it again, up to eight times, and run it uncompiled from then on. `versions` is the number of
compilations for other shapes or numbers, of the piece that has most. Another mode, or a hook of the watch, does not count. Read
from torch's own metrics of the run. Both are 0 if nothing was compiled.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from bugzoo import watching
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps, pick
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "breaks": ("lines at which a compiled graph ends", "0"),
    "versions": ("compilations of one piece, for other shapes", "0 to 4"),
}
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


def measure(run: Run) -> dict[str, Any]:
    """Counts, and the line of a graph break if there is one. Raises NotApplicable without the live run."""
    need_steps(run, 1)
    began, ended = live(run).began * 1e6, live(run).ended * 1e6
    compiler = sys.modules.get("torch._dynamo.utils")
    every = compiler.get_compilation_metrics() if compiler else []
    listed = [one for one in every if began <= (one.start_time_us or 0) <= ended]
    made = [one for one in listed if one.co_filename and not one.co_filename.startswith(_OWN)]
    breaks = {one.co_name for one in made if one.co_name.startswith(_RESUMED)}
    versions = Counter(str(one.compile_id).split("/")[0] for one in made if _asked_for(one.recompile_reason or ""))
    numbers: dict[str, Any] = {"breaks": float(len(breaks)), "versions": float(max(versions.values(), default=0))}
    if breaks:
        first = next(one for one in made if one.co_name in breaks)
        numbers |= {"file": first.co_filename, "line": int(first.co_name.rsplit("_", 1)[-1])}
    return numbers


def _asked_for(reason: str) -> bool:
    """Was a piece compiled for the first time, or again because of its inputs?"""
    return not reason or "mismatch" in reason or "L['" in reason


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on graph breaks, and on more than 4 compilations of one piece."""
    shown = pick(numbers, *SHOWN)
    place = {"file": numbers.get("file"), "line": numbers.get("line")}
    breaks, versions = numbers["breaks"], numbers["versions"]
    suspects = []
    if breaks:
        text = f"torch.compile breaks the model's graph at {breaks:.0f} line{'s' * (breaks > 1)} (usually 0)"
        suspects.append(Suspect("speed/graph_breaks", 0.6, text, **place))
    if versions > MANY:
        text = f"torch.compile compiles one piece of the model {versions:.0f} times for other shapes or numbers (usually 1 or 2)"
        suspects.append(Suspect("speed/recompiles", 0.6, text))
    message = (
        suspects[0].reason if suspects else "there are no graph breaks, and no piece is compiled more often than usual"
    )
    return Verdict("compiled_graphs", bool(suspects), message, shown, tuple(suspects))
