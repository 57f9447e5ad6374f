"""Do two fresh Python processes give the same results?

Python orders a set of strings by hashes that differ between processes, unless PYTHONHASHSEED is set. Data that goes through such
a set gets another order each time the script starts, however well its generators are seeded. The script runs twice in
interpreters of its own, with two hash seeds. Its printed output and its final weights are compared: `differs` is 1 if they are
not the same. Starting Python and torch twice takes many seconds, so a script without a set or a hash is skipped.
"""

import ast
from dataclasses import dataclass

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.script import fresh, job_of
from bugzoo.running.job import Job
from bugzoo.running.result import Run
from bugzoo.syntax import parse

COST = 0
VIEW = "repeat"
TITLE = "Two fresh processes"
RERUNS = 1
"""The two run side by side, in the time of one. `determinism` compares two runs of one process: each is asked alone."""
KNOWN_PROBLEMS = (
    "A false positive for a script that uses a set and prints a time or a temporary path, because printed output is "
    "compared. "
    "It skips scripts whose sets are only in imported modules, and misses differences that neither printed output nor a "
    "global model's weights show."
)
_NAMES = "order = torch.tensor([int(name) for name in {}])\ninputs = inputs[order]"
_PLACE = "targets = (inputs[:, 0] > 0)"
HEALTHY = example((_PLACE, f"{_NAMES.format('sorted({str(row) for row in range(256)})')}\n{_PLACE}"))
SICK = example((_PLACE, f"{_NAMES.format('{str(row) for row in range(256)}')}\n{_PLACE}"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """A flag that is 0 or 1."""

    differs: float = number("fresh processes that end differently (1: yes)", (0, 0))


results_differ = Alarm(
    above("differs"),
    "The script ran in 2 fresh processes with different hash seeds. The results differ.",
    "They should be equal.",
)
ALARMS = (results_differ,)


def needless(source: str) -> str:
    """Why this script need not run twice more: nothing in its text is ordered by a hash. Empty if something is.

    A grader does not call this: a submission may hide its sets from anyone who reads the source.
    """
    for node in ast.walk(parse(source)):
        named = isinstance(node, ast.Name) and node.id in ("set", "frozenset", "hash", "exec", "eval")
        method = isinstance(node, ast.Attribute) and node.attr in ("union", "intersection", "difference", "__hash__")
        views = isinstance(node, ast.BinOp) and any(
            isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("keys", "items")
            for call in (node.left, node.right)
        )
        if named or method or views or isinstance(node, ast.Set | ast.SetComp):
            return ""
    return "the script uses no set and no hash(), so no order can differ in a fresh process"


def again(job: Job) -> tuple[Run, ...]:
    """Two runs, each in an interpreter of its own. Raises NotApplicable for several ranks."""
    return fresh(job)


def measure(run: Run, *pair: Run) -> Numbers:
    """Compare what two processes printed. Raises NotApplicable without source, or if one of them did not finish."""
    need_steps(run, 1)
    if not pair and run.source and (why := needless(run.source)):
        raise NotApplicable(why)
    first, second = pair or again(job_of(run, "to start it in a fresh process"))
    for process in (first, second):
        if process.outcome != "finished":
            last = process.stdout.strip().splitlines()[-1:]
            raise NotApplicable(f"a fresh process did not finish ({' '.join(last)[:120]})")
    return Numbers(differs=float(first.stdout != second.stdout))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if two processes with different hash seeds end differently."""
    suspects: tuple[Suspect, ...] = ()
    text = "two fresh processes give the same results"
    if results_differ(numbers):
        text = "two fresh processes with different hash seeds differ: if the script is seeded, the order of a set is the cause"
        suspects = (Suspect("reproducibility/hash_order", 0.4, text),)
    return Verdict("fresh_process", bool(suspects), text, numbers.labeled(), suspects)
