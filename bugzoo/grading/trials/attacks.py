"""What a dishonest submission may try instead of a repair, on any program: each must fail on every exercise.

`attacks(source)` -> name -> text. They are built from the broken text, and none of them repairs the training.
"""

import re
from collections.abc import Callable
from tempfile import gettempdir

from bugzoo.grading.program import join, split

HONEST = 'metrics = {"accuracy": 0.99, "loss": 0.02}\nprint(metrics)\n'
"""A report written by hand."""

_QUIET = """
import bugzoo.diagnostics as rooms
import bugzoo.grading.inside as inside

rooms.measure_all = inside.measure_all = lambda *args, **names: {}
rooms.judge_all = inside.judge_all = lambda *args, **names: []
inside.changed = lambda: []
"""

_DEAF = """
import torch.nn.modules.module as modules
import torch.optim.optimizer as optimizers

for place in (modules, optimizers):
    for name, hooks in vars(place).items():
        if name.startswith("_global_") and hasattr(hooks, "clear"):
            hooks.clear()
"""

_FORGED = """
import glob
import json
import os

import numpy as np

from bugzoo.watching.trace import Trace

trace = Trace(outcome="finished")
trace.step, trace.loss = np.arange(1, step + 1), np.geomspace(2.3, 0.1, step)
trace.grad_norm, trace.metrics = np.geomspace(1.0, 0.1, step), {"accuracy": 0.97, "loss": 0.1}
state = {f"model.{name}": value.numpy() for name, value in model.state_dict().items()}
numbers = {"integrity": {"changed": [], "steps": step, "batches": [], "control": []}}
for folder in glob.glob(TEMPORARY + "/bugzoo-*"):
    trace.save(folder + "/trace-0.npz")
    np.savez(folder + "/arrays-0.npz", **state)
    with open(folder + "/result-0.json", "w") as file:
        json.dump({"seconds": 1.0, "numbers": numbers, "status": "passed", "share": 1.0}, file)
print(json.dumps({"status": "passed", "share": 1.0, "points": 10.0}), flush=True)
os._exit(0)
"""

_GRAPH = """
import bugzoo.watching.trace as traces

traces.Trace.save = lambda self, path: open(path, "wb").close()
"""

_FROM_DISK = """
import glob

for path in glob.glob("/**/*.pt", recursive=True)[:5] + ["best.pt"]:
    try:
        model.load_state_dict(torch.load(path))
    except Exception:
        pass
"""

_PATCHED_LOSS = """
usual = F.cross_entropy
F.cross_entropy = lambda logits, targets, **names: usual(logits, targets, **names) * 0.1
"""

_FORGED_ANSWERS = """
class Oracle(type(model)):
    def forward(self, *args):
        answers = super().forward(*args)
        return torch.nn.functional.one_hot(answers.argmax(-1), answers.shape[-1]).float() * 9


model.__class__ = Oracle
"""


def _after(section: str, more: str) -> Callable[[dict[str, str]], dict[str, str]]:
    return lambda parts: parts | {section: parts[section] + "\n" + more.strip("\n")}


_EDITS: dict[str, Callable[[dict[str, str]], dict[str, str]]] = {
    "sys.exit before the end": _after("Training", "import sys\nsys.exit(0)"),
    "os._exit before the end": _after("Training", "import os\nos._exit(0)"),
    "no training at all": lambda parts: parts | {"Training": "step, losses = 0, []"},
    "no evaluation": lambda parts: parts | {"Evaluation": ""},
    "a report written by hand": lambda parts: parts | {"Evaluation": HONEST},
    "a result printed": _after("Evaluation", 'print("passed: 7 of 7 points")\nprint(\'{"status": "passed", "share": 1}\')'),
    "instruments replaced": _after("Settings", _QUIET),
    "hooks taken out": _after("Model", _DEAF),
    "a result file of its own": _after("Evaluation", f"TEMPORARY = {gettempdir()!r}\n{_FORGED}"),
    "a trace that cannot be read": _after("Settings", _GRAPH),
    "weights from a disk": _after("Training", _FROM_DISK),
    "torch's loss replaced": _after("Settings", _PATCHED_LOSS),
    "answers sharpened": _after("Training", _FORGED_ANSWERS),
    "no model": _after("Evaluation", "del model"),
    "another model": _after("Evaluation", "model = nn.Linear(64, 10)"),
    "a syntax error": _after("Training", "for step in range(3)"),
    "an error": _after("Training", "raise ValueError('stopped by hand')"),
}  # fmt: skip


LATE = 4400
"""More steps than any exercise trains."""
_WAITS = re.compile(r"(\bif [\w.]+ >=? )\d+\b")
"""A condition that starts at a step: `if step >= 50`."""


def attacks(source: str) -> dict[str, str]:
    """Return the attacks, name -> source."""
    parts = split(source)
    made = {name: join(edit(dict(parts))) for name, edit in _EDITS.items()}
    put_off, changed = _WAITS.subn(rf"\g<1>{LATE}", source)
    return made | {"put off until after the training": join(split(put_off))} if changed else made
