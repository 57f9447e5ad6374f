"""Into how many pieces, and how many versions, did torch.compile cut the model?

A compiled call is one graph, made once. Where Python has to know a number before it can go on, as in `if x.max() > 1`, the graph
ends and another begins behind that line: `breaks` counts such lines. And what was compiled holds for the shapes and Python
numbers that it saw: for others it is made again, up to eight times, and is not compiled from then on. `versions` says for how
many of them the piece was made that was made most often; another mode, or a hook that listens, is no reason of the script's.
Read from torch's own account of the run; where nothing was compiled both are 0.
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
    "breaks": ("lines at which what was compiled ends and begins anew", "0"),
    "versions": ("shapes for which one piece was compiled", "1 or 2: a last batch is shorter"),
}
_COMPILED = ("optimizer = torch", 'compiled = torch.compile(model, backend="eager", dynamic=False)\noptimizer = torch')
_CALLED = ("logits = model(", "logits = compiled(")
HEALTHY = example(_COMPILED, _CALLED)
SICK = example(_COMPILED, _CALLED, (".split(32)", ".split([30, 31, 32, 33, 34, 35, 61])"))
MANY = 4
"""Shapes that are usual, at most: of training and evaluation, each with a short last batch."""
_RESUMED = "torch_dynamo_resume_in_"
_OWN = str(Path(watching.__file__).resolve().parents[1])
"""Instruments that run the loop once more stand there as well."""


def measure(run: Run) -> dict[str, Any]:
    """Counts, and the line of a break where there is one. Raises NotApplicable without the live run."""
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
    """Was a piece compiled for the first time, or once more because of what came in?"""
    return not reason or "mismatch" in reason or "L['" in reason


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on a graph that breaks, and on one that is made again and again."""
    shown = pick(numbers, *SHOWN)
    place = {"file": numbers.get("file"), "line": numbers.get("line")}
    breaks, versions = numbers["breaks"], numbers["versions"]
    suspects = []
    if breaks:
        text = (
            f"what torch.compile made of the model ends at {breaks:.0f} line{'s' * (breaks > 1)} and begins anew behind"
        )
        suspects.append(Suspect("speed/graph_breaks", 0.6, text, **place))
    if versions > MANY:
        text = f"one piece of the model was compiled {versions:.0f} times, for as many shapes or numbers"
        suspects.append(Suspect("speed/recompiles", 0.6, text))
    message = suspects[0].evidence if suspects else "nothing was compiled in pieces, or more often than needed"
    return Verdict("compiled_graphs", bool(suspects), message, shown, tuple(suspects))
