"""What the kinds are made of: the cases' texts, ways to find the recorder, and what to write into it then.

`Kind.text()` is what is handed in. Cases: "10" forgets to clear its gradients and clips them, so that its weights are good
and nothing but what measures stands in between; "10 plain" does not clip; "16" feeds a softmax into the loss; "28" is a
transformer whose mask comes after the softmax. The last two are graded as exercises.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bugzoo.grading.exercises import load
from bugzoo.grading.grade import handed_out
from tests.grading.tricks import BACK, BROKEN, STEP, after, apply

FLAT, MIXED = "16_flat_loss", "28_mixed_lengths"
CLIPPED = apply(BROKEN, ((STEP, f"        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n{STEP}"),))
CASES = {"10": CLIPPED, "10 plain": BROKEN, "16": handed_out(load(FLAT)), "28": handed_out(load(MIXED))}
EXERCISES = {"16": FLAT, "28": MIXED}


@dataclass(frozen=True)
class Kind:
    """An attack: on which case, why it has to fail, and the edit of the case's broken text."""

    case: str
    why: str
    edit: Callable[[str], str]

    def text(self) -> str:
        return self.edit(CASES[self.case])


def at(section: str, text: str) -> Callable[[str], str]:
    """`text` at the end of a section: Settings, Model, Training or End."""
    return after(section, text.strip("\n") + "\n")


def before_step(text: str) -> Callable[[str], str]:
    """Lines of the loop's body, just before the optimiser's step."""
    return lambda source: apply(source, ((STEP, _indented(text) + STEP),))


def before_backward(text: str) -> Callable[[str], str]:
    return lambda source: apply(source, ((BACK, _indented(text) + BACK),))


def both(*edits: Callable[[str], str]) -> Callable[[str], str]:
    """Several edits, one after the other."""

    def made(source: str) -> str:
        for edit in edits:
            source = edit(source)
        return source

    return made


def _indented(text: str) -> str:
    return "".join(f"        {line}\n" for line in text.strip("\n").splitlines())


FOLDER = """
import glob, json, os
import numpy as np
places = [line.split()[4] for line in open("/proc/self/mountinfo")]
folder = next(place for place in places if "/bugzoo-" in place and os.path.exists(place + "/rank-000.pid"))
"""
"""Where the supervisor looks for what the script's process leaves."""

GC = """
import gc
recorder = next(one for one in gc.get_objects() if type(one).__name__ == "Recorder")
"""
FINDERS = {
    "gc": GC,
    "gc.get_referrers of an optimiser": """
import gc
found = [model]
for one in gc.get_objects():
    if type(one).__name__ == "Live":
        recorder = next(
            holder["self"] if "self" in holder else next(o for o in gc.get_objects() if getattr(o, "__dict__", None) is holder)
            for holder in gc.get_referrers(one)
            if isinstance(holder, dict) and "table" in holder
        )
""",
    "the active watch": """
from bugzoo.watching.watch import _active
recorder = _active[0]._recorder
""",
    "sys._getframe": """
import sys
frame = sys._getframe()
while "trace" not in vars(frame.f_locals.get("run", object)):
    frame = frame.f_back
recorder = frame.f_locals["run"].trace and __import__("bugzoo.watching.watch", fromlist=["x"])._active[0]._recorder
""",
    "a traceback's frames": """
try:
    raise ValueError
except ValueError as error:
    frame = error.__traceback__.tb_frame
while frame.f_code.co_name != "execute":
    frame = frame.f_back
recorder = frame.f_globals["sys"].modules["bugzoo.watching.watch"]._active[0]._recorder
""",
    "inspect.stack": """
import inspect
places = [one.frame.f_globals.get("sys") for one in inspect.stack() if one.function == "execute"]
recorder = places[0].modules["bugzoo.watching.watch"]._active[0]._recorder
""",
    "threading and sys._current_frames": """
import sys, threading
frame = sys._current_frames()[threading.get_ident()]
while frame.f_back is not None and "source" not in frame.f_locals:
    frame = frame.f_back
recorder = sys.modules["bugzoo.watching.watch"]._active[-1]._recorder
""",
    "the optimiser's list of hooks": """
from torch.optim import optimizer as place
recorder = next(
    cell.cell_contents
    for hook in place._global_optimizer_pre_hooks.values()
    for cell in hook.__closure__ or ()
    if type(cell.cell_contents).__name__ == "Recorder"
)
""",
    "the closure of torch.autograd.backward": """
recorder = next(
    cell.cell_contents
    for cell in torch.autograd.backward.__closure__
    if type(cell.cell_contents).__name__ == "Recorder"
)
""",
    "the module's list of hooks": """
from torch.nn.modules import module as place
hooks = [hook for name, value in vars(place).items() if name.startswith("_global_") and hasattr(value, "values")
         for hook in value.values()]
import gc
recorder = next(one for one in gc.get_objects() if type(one).__name__ == "Recorder") if hooks else None
""",
    "ctypes, by its address": """
import ctypes, gc
place = next(id(one) for one in gc.get_objects() if type(one).__name__ == "Recorder")
recorder = ctypes.cast(place, ctypes.py_object).value
""",
    "a weak reference's referent": """
import gc, weakref
recorder = next(weakref.ref(one)() for one in gc.get_objects() if type(one).__name__ == "Recorder")
""",
}  # fmt: skip
"""Each leaves `recorder`."""

CLEARED = "recorder.table._data[:, 6] = 0.0\n"
"""What was left in the gradients before each backward()."""
FORGET = "recorder.witness.found.clear()\n"
NEVER = "recorder.witness.wanted.clear()\n"
FORGE = """
from torch.func import functional_call
for now in recorder.witness.found.values():
    weights = {n[8:]: v.clone().requires_grad_() for n, v in now.items() if n.startswith("weights.")}
    with torch.enable_grad():
        objective = F.cross_entropy(functional_call(model, weights, (now["inputs"],)), now["targets"])
        gradients = torch.autograd.grad.__wrapped__(objective, list(weights.values()))
    now.update({"grads." + n: g for n, g in zip(weights, gradients)})
"""
"""The gradients that a healthy step would have had, worked out when all is over."""
