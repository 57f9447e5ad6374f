"""Does it give the same in two fresh processes?

Python orders a set of texts by hashes that differ from one process to the next, unless PYTHONHASHSEED says otherwise: what goes
through such a set comes out in another order each time the script is started, however well its generators are seeded. The script
is run twice in interpreters of its own, with two hash seeds, and what it prints and the weights that it ends with are compared:
`differs` is 1 where they are not the same.
"""

from typing import Any

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

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
import os, subprocess, sys, tempfile
for seed in ("1", "2"):
    found = {{**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}}
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as failed:  # a pipe, its children would keep open
        done = subprocess.run([sys.executable, "-c", {text!r}], env=found, stdout=said, stderr=failed)
        said.seek(0), failed.seek(0)
        print({mark!r}, done.returncode)
        print(said.read()[-3000:] if done.returncode == 0 else failed.read()[-300:])
"""


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
        from bugzoo.running import Job

        (both,) = again(Job(run.source, file=run.file or "train.py", ranks=max(1, len(run.ranks))))
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
