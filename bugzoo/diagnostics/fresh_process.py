"""Does it give the same in two fresh processes?

Python orders a set of texts by hashes that differ from one process to the next, unless PYTHONHASHSEED says otherwise: what goes
through such a set comes out in another order each time the script is started, however well its generators are seeded. The script
is run twice in interpreters of its own, with two hash seeds, and what it prints and the weights that it ends with are compared:
`differs` is 1 where they are not the same. To start Python and torch twice takes many seconds, so that a script that makes no
set and asks for no hash is left alone.
"""

import ast
from typing import Any

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run
from bugzoo.syntax import parse

COST = 0
RERUNS = 1
SHOWN = {
    "differs": ("do two fresh processes differ (1: yes)", "0"),
}
_NAMES = "order = torch.tensor([int(name) for name in {}])\ninputs = inputs[order]"
_PLACE = "targets = (inputs[:, 0] > 0)"
HEALTHY = example((_PLACE, f"{_NAMES.format('sorted({str(row) for row in range(256)})')}\n{_PLACE}"))
SICK = example((_PLACE, f"{_NAMES.format('{str(row) for row in range(256)}')}\n{_PLACE}"))
_MARK = "==== a fresh process"
_TAIL = """
import torch as _torch
for _name, _module in list(globals().items()):
    if isinstance(_module, _torch.nn.Module):
        print(_name, repr(sum(_p.detach().double().abs().sum().item() for _p in _module.parameters())))
"""
_TWICE = """
import contextlib, os, subprocess, sys, tempfile
with contextlib.ExitStack() as stack:  # side by side: to start Python and torch takes most of the time
    both = []
    for seed in ("1", "2"):
        found = {{**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}}
        said, failed = (stack.enter_context(tempfile.TemporaryFile("w+")) for _ in "12")  # a pipe, its children would keep open
        child = subprocess.Popen([sys.executable, "-c", {text!r}], env=found, stdout=said, stderr=failed)
        stack.callback(child.wait), stack.callback(child.kill)
        both.append((child, said, failed))
    for child, said, failed in both:
        code = child.wait()
        said.seek(0), failed.seek(0)
        print({mark!r}, code)
        print(said.read()[-3000:] if code == 0 else failed.read()[-300:])
"""


def needless(source: str) -> str:
    """Why nobody need start this script twice more: nothing in its text is ordered by a hash. Empty where something is.

    A grader does not ask: what was handed in may make its sets where no reader sees them.
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
    return "the script makes no set and takes no hash, by which a fresh process would order anything otherwise"


def again(job: Any) -> tuple[Run, ...]:
    """One run that starts the script twice, in interpreters of its own. Raises NotApplicable for several ranks."""
    from dataclasses import replace

    from bugzoo.running import run_worker

    if job.ranks > 1:
        raise NotApplicable("the script runs in several processes at once")
    text = _TWICE.format(text=job.source + _TAIL, mark=_MARK)
    limits = replace(job.limits, seconds=4 * job.limits.seconds + 120)
    return (run_worker(replace(job, source=text, limits=limits, watch=False)),)


def measure(run: Run, both: Run | None = None) -> dict[str, Any]:
    """Compare what two processes printed. Raises NotApplicable without source, or where one of them did not end well."""
    need_steps(run, 1)
    if both is None:
        if not run.source:
            raise NotApplicable("needs the script's source, to start it in a fresh process")
        if why := needless(run.source):
            raise NotApplicable(why)
        from bugzoo.running import Job

        (both,) = again(Job(run.source, file=run.file or "train.py", ranks=max(1, len(run.ranks)), overlay=True))
    parts = [part.split("\n", 1) for part in both.stdout.split(_MARK)[1:]]
    if len(parts) != 2 or any(head.strip() != "0" for head, *_ in parts):
        last = parts[-1][-1].strip().splitlines()[-1:] if parts else []
        raise NotApplicable(f"a fresh process did not come to its end ({' '.join(last)[:120]})")
    return {"differs": float(parts[0][-1] != parts[1][-1])}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where two processes with other hash seeds end differently."""
    shown = pick(numbers, *SHOWN)
    if numbers["differs"]:
        text = "two fresh processes with other hash seeds differ: if each repeats itself, the order of a set decides something"
        return Verdict("fresh_process", True, text, shown, (Suspect("reproducibility/hash_order", 0.4, text),))
    return Verdict("fresh_process", False, "two fresh processes end with the same numbers", shown)
