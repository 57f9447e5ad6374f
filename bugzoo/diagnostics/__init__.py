"""Instruments: each file measures one thing about a training run and judges what it measured.

An instrument is a module of this folder; a new file here adds one. Its docstring starts with the question that it answers.
It may read only what the run did: no diff, and no names that only our programs have.
`measure(run)` returns its record (`numbers.Measured`) and raises NotApplicable where it can say nothing, `judge(numbers)`
returns a Verdict, and `read` makes a Reading of what was measured. `COST` is 0 for an instrument that reads the trace. It is
1 for one that needs the live model and a batch: it asks `bugzoo.rerun` to run something again, and restores nothing itself.
An optional `RERUNS` says how many more runs of the script `measure` needs, and `again(job)` makes them. An optional
`needless(source)` says why they would show nothing.
`HEALTHY` and `SICK` are two small scripts: the instrument must stay quiet on the first and fire on the second.
`KNOWN_PROBLEMS` says in two sentences where it is wrong, and what it misses.

`VIEW` names the view in which its numbers stand, and that view's `ORDER` names the instrument. `TIMED = True`: it judges
durations, so grading asks it only where slowness is the fault. `TRAINS = True`: it trains the model once more, so grading asks
it on the first seed only. `checkup` names a cause from a score of 0.6 on; a new instrument begins at 0.5 (`_weigh`).
"""

import ast
import importlib
import pkgutil
import traceback
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.errors import unknown
from bugzoo.running.reading import Reading
from bugzoo.syntax import parse

if TYPE_CHECKING:
    from bugzoo.diagnostics._sequences import Call, shifted
    from bugzoo.diagnostics._tools import batches, model_of
    from bugzoo.diagnostics.checkup import Report
    from bugzoo.running.result import Run

__all__ = [
    "Call",
    "NotApplicable",
    "Suspect",
    "Verdict",
    "batches",
    "examine",
    "instrument",
    "judge_all",
    "measure_all",
    "model_of",
    "names",
    "question",
    "read",
    "reread",
    "reruns",
    "shifted",
    "tools",
]
_HOMES = {"Call": "_sequences", "shifted": "_sequences", "batches": "_tools", "model_of": "_tools"}
"""Name -> its module, which imports torch."""
_NO_INSTRUMENTS = {"verdict", "checkup", "numbers", "conditions", "places", "causes", "bug_report"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def names() -> list[str]:
    """Stems of all instruments, in alphabetical order."""
    return list(_names())


@cache
def _names() -> tuple[str, ...]:
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(name for name in modules if not name.startswith("_") and name not in _NO_INSTRUMENTS))


def ready() -> None:
    """Import all instruments: a warm process calls this once, so that none of its children has to."""
    for name in names():
        instrument(name)


def declared(name: str) -> dict[str, Any]:
    """COST, RERUNS and the like of an instrument, and "__doc__": read without an import, which would import torch."""
    return dict(_declared(name))


@cache
def _declared(name: str) -> dict[str, Any]:
    tree = parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return constants | {"__doc__": ast.get_docstring(tree)}


@cache
def tools() -> tuple[str, ...]:
    """Instruments that are called by name, as tools of their own: their numbers stand in no view."""
    return tuple(name for name in names() if "VIEW" not in declared(name))


def instrument(name: str) -> ModuleType:
    """The instrument's module, with COST, measure and judge. Raises UserError for an unknown name."""
    if name not in names():
        raise unknown("instrument", name, names(), "bugzoo list instruments")
    return importlib.import_module(f"{__name__}.{name}")


def question(name: str) -> str:
    """The question that the instrument answers: the first line of its docstring."""
    return (instrument(name).__doc__ or "").strip().split("\n")[0]


def reruns(name: str) -> int:
    """How many more runs of the script the instrument's `measure` needs."""
    return getattr(instrument(name), "RERUNS", 0)


def measure_all(
    run: "Run", names: Iterable[str] | None = None, max_cost: int = 1, most_reruns: int = 0, also: Iterable[str] = ()
) -> dict[str, Reading]:
    """Readings of every instrument up to `max_cost` that needs at most `most_reruns` more runs of the script.

    `also` names instruments to measure at any cost.
    """
    results: dict[str, Reading] = {}
    chosen = list(globals()["names"]() if names is None else names)
    for name in sorted(chosen, key=lambda name: instrument(name).COST):
        more, cost = reruns(name), instrument(name).COST
        if more > most_reruns and name not in also:
            results[name] = Reading(
                why_not=f"needs {more} more run{'s' * (more > 1)} of the script, and {most_reruns} are allowed"
            )
        elif cost > max_cost and name not in also:
            results[name] = Reading(why_not="needs the live model, and here only the trace is read")
        else:
            results[name] = read(name, run)
    return results


def read(name: str, run: "Run", *more: Any) -> Reading:
    """What one instrument measures on `run` (and on `more` runs of the same script, where it compares them).

    An instrument that fails on an unusual script must not stop the others: its error becomes the reason.
    """
    try:
        return Reading(instrument(name).measure(run, *more).measured())
    except NotApplicable as why:
        return Reading(why_not=str(why))
    except Exception as error:  # a script may do anything when its model is called again
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return Reading(why_not=f"could not measure ({text}; {where.name}, line {where.lineno})")


def reread(name: str, run: "Run", job: Any) -> Reading:
    """As `read`, with the further runs of `job` that the instrument compares with `run`, where they can show anything."""
    needless = getattr(instrument(name), "needless", None)
    if needless and (why := needless(job.source)):
        return Reading(why_not=why)
    try:
        more = instrument(name).again(job)
    except NotApplicable as why:
        return Reading(why_not=str(why))
    return read(name, run, *more)


def judge_all(readings: Mapping[str, Reading]) -> list[Verdict]:
    """A verdict for each instrument that measured something, those that fired first."""
    verdicts = [instrument(name).judge(reading.numbers) for name, reading in readings.items() if reading.applies]
    return sorted(verdicts, key=lambda verdict: not verdict.fired)


def examine(trace: Any, max_cost: int = 1) -> "Report":
    """Judge a trace of your own: `with bugzoo.watch() as trace: ...` and then `examine(trace)`.

    These parts run again in this process, and everything is restored afterwards: the step with the first non-finite number, or
    the forward pass that crashed. With `max_cost` 1 the model also runs on kept batches. The body of the training loop runs some
    hundred times on its first batch, and the evaluation runs again. Their output is not printed, but what they write or send
    happens again. Nothing else runs: see `bugzoo.rerun`. With `max_cost` 0 only the trace is read.
    """
    from bugzoo.diagnostics.checkup import report
    from bugzoo.running.result import Run

    run = Run(trace)
    run.readings = measure_all(run, max_cost=max_cost)
    return report(run)
