"""Repairs and tricks for one small case: the perceptron whose gradients are never cleared.

REPAIRS mend it and must pass, whatever their style. LAZY look like a repair, ATTACKS are aimed at the grader: both must
fail. Each is a function of the broken text.
"""

from collections.abc import Callable
from dataclasses import asdict
from tempfile import gettempdir

from bugzoo.grading.exercises import load
from bugzoo.running.account import Account

EXERCISE = load("10_restless_loss")
SCENARIO = EXERCISE.scenario
BROKEN = EXERCISE.handed_out

BACK, STEP = "        loss.backward()\n", "        optimizer.step()\n"
ZERO = "        optimizer.zero_grad()\n"
PAIRS = "TensorDataset(images[train], labels[train])"
REPORT = 'metrics = {"accuracy": correct / total, "loss": summed / total}'
EACH = "        for parameter in model.parameters():\n"


def apply(source: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """`source` with each old text, which occurs exactly once, replaced by the new one."""
    for old, new in pairs:
        assert source.count(old) == 1, (old, source.count(old))
        source = source.replace(old, new)
    return source


MENDED = apply(BROKEN, ((BACK, ZERO + BACK),))

Edit = Callable[[str], str]


def edit(*pairs: tuple[str, str]) -> Edit:
    return lambda source: apply(source, pairs)


def after(section: str, text: str) -> Edit:
    """`text` at the end of a section, at the top level of the program."""
    following = {"Settings": "# %% Data", "Model": "# %% Training", "Training": "# %% Evaluation"}.get(section)
    return edit((following, f"{text}\n{following}")) if following else lambda source: source + text


REPAIRS: dict[str, Edit] = {
    "before backward": edit((BACK, ZERO + BACK)),
    "the model's own": edit((BACK, f"        model.zero_grad()\n{BACK}")),
    "zeros, not None": edit((BACK, f"        optimizer.zero_grad(set_to_none=False)\n{BACK}")),
    "after the step": edit((STEP, STEP + ZERO)),
    "None by hand": edit((BACK, f"{EACH}            parameter.grad = None\n{BACK}")),
    "zeroed in place": edit(
        (BACK, f"{EACH}            if parameter.grad is not None:\n                parameter.grad.zero_()\n{BACK}")
    ),
    "the loop as functions": lambda source: _as_functions(source),
}


def _as_functions(source: str) -> str:
    """The same training in another shape: a function for a step, an enumerate, a list comprehension."""
    head, rest = source.split("step = 0\n", 1)
    tail = rest.split("# %% Evaluation", 1)[1]
    loop = """

def one_step(images_now, labels_now):
    optimizer.zero_grad()
    value = nn.CrossEntropyLoss()(model(images_now), labels_now)
    value.backward()
    optimizer.step()
    return value.item()


model.train()
losses = [one_step(*batch) for _ in range(epochs) for batch in train_loader]
step = len(losses)

"""
    return f"{head}{loop}# %% Evaluation{tail}"


LAZY: dict[str, Edit] = {
    "as it was": lambda source: source,
    "lower rate": edit(("learning_rate = 1e-3", "learning_rate = 1e-5")),
    "clip everything": edit((STEP, f"        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)\n{STEP}")),
    "nan_to_num": edit(
        (BACK, f"        loss = torch.nan_to_num(loss)\n{BACK}{EACH}            parameter.grad.nan_to_num_()\n")
    ),
    "metrics written by hand": edit((REPORT, 'metrics = {"accuracy": 0.97, "loss": 0.1}')),
    "another optimiser": edit(("torch.optim.Adam(", "torch.optim.Adagrad(")),
    "a layer left alone": edit(
        ("Adam(model.parameters(), ", "Adam([*model.layer2.parameters(), *model.head.parameters()], "),
    ),
    "fewer epochs": lambda source: _setting(source, "epochs", "2"),
    "half of the gradients kept": edit((STEP, f"{STEP}{EACH}            parameter.grad *= 0.5\n")),
    "no training": lambda source: _without_training(source),
}


# each breaks one rule and is noticed by the checks named, by no other: without them it would pass
SINGLE: dict[str, tuple[tuple[str, ...], Edit]] = {
    "trains on the validation images": (
        ("data", "train_validation_overlap"), lambda source: apply(MENDED, ((PAIRS, PAIRS.replace("train", "order[-1150:]")),)),
    ),
    "twice the epochs": (("budget",), lambda source: _setting(MENDED, "epochs", "12")),
    "twice the width": (("model size",), lambda source: _setting(MENDED, "hidden_size", "256")),
    "an accuracy of its own": (
        ("report", "reported_metric"), lambda source: apply(MENDED, ((REPORT, 'metrics = {"accuracy": 1.0, "loss": 0.0}'),)),
    ),
    "torch's loss replaced": (("tools",), lambda source: after("Settings", _LOUD)(MENDED)),
    "what writes the results replaced": (("tools",), lambda source: after("Settings", _WRITER)(MENDED)),
    "learns too little": (("accuracy", "loss", "training loss"), lambda source: _setting(MENDED, "learning_rate", "2e-4")),
    "never cleared, but clipped": (("fresh_gradient", "clip_rate", "symptom"), lambda source: LAZY["clip everything"](source)),
    "an error at the end": (("run",), lambda source: MENDED + "assert step < 0\n"),
}  # fmt: skip


def _setting(source: str, name: str, value: str) -> str:
    old = next(line for line in source.splitlines() if line.startswith(f"{name} = "))
    return apply(source, ((old + "\n", f"{name} = {value}\n"),))


def _without_training(source: str) -> str:
    head, rest = source.split("# %% Training", 1)
    return f"{head}# %% Training\nstep, losses = 0, []\n\n# %% Evaluation{rest.split('# %% Evaluation', 1)[1]}"


_LOUD = """
usual_loss = F.cross_entropy
F.cross_entropy = lambda *args, **names: usual_loss(*args, **names)
"""

_WRITER = """
import json
usual_dumps = json.dumps
json.dumps = lambda *args, **names: usual_dumps(*args, **names)
"""

# clipping alone gives good weights, so that only what measures stands between this and the points
QUIET = (
    "dict.fromkeys(('stale_share', 'empty_share', 'leftover', 'update_ratio', 'closure', 'leaf_loss', 'elsewhere_share', "
    "'backwards_before_first_step'), 0.0) | {'backwards_per_step': 1.0, 'forwards_per_step': 1.0, 'optimizers': 1.0}"
)
"""What `fresh_gradient` measures where nothing is wrong."""

_SILENT = f"""
import sys

import bugzoo.diagnostics as rooms
from bugzoo.running.reading import Reading

inside = sys.modules["bugzoo.grading.inside"]
usual, usual_all = inside.examine, inside.measure_all
quiet = Reading({QUIET})


def silent(run, *args, **names):
    readings = usual(run, *args, **names)
    note = dict(readings["integrity"].numbers) | {{"changed": []}}
    return readings | {{"fresh_gradient": quiet, "integrity": Reading(note)}}


inside.examine = silent
rooms.measure_all = inside.measure_all = lambda *args, **names: usual_all(*args, **names) | {{"fresh_gradient": quiet}}
rooms.judge_all = lambda *args, **names: []
inside._parts = lambda: iter(())
"""

_SPOILT = """
import bugzoo.diagnostics.mode_watch as one
import bugzoo.diagnostics.loss_scale as another

one.measure = lambda run: {"eval_in_train_mode": [1, {}]}
another.measure = lambda run: "nothing"
"""

_EXCHANGED = f"""
import bugzoo.diagnostics.fresh_gradient as instrument


def quiet(run):
    return {QUIET}


instrument.measure.__code__ = quiet.__code__
"""

_WON = '{"status": "passed", "share": 1.0, "points": 10.0, "max_points": 10.0, "message": "", "seconds": 1.0, "checks": []}'

ATTACKS: dict[str, Edit] = {
    "sys.exit(0)": after("Settings", "import sys\nsys.exit(0)\n"),
    "os._exit(0)": after("Training", "import os\nos._exit(0)\n"),
    "no sandbox, by an exit code": after("Settings", "import os\nos._exit(71)\n"),
    "no sandbox, by a name": after("Settings", "class IsolationError(Exception):\n    pass\nraise IsolationError()\n"),
    "a machine that failed": after("Settings", "raise OSError(28, 'No space left on device')\n"),
    "a full folder": after("End", f"""
import glob
folder = glob.glob({gettempdir()!r} + "/bugzoo-*")[0]
with open(folder + "/junk", "wb") as file:
    while True:
        file.write(bytes(2**20))
"""),
    "its own supervisor": after("End", f"""
import json, os
account = {asdict(Account(0, 1.0, 100.0, "", trouble="the disk is full"))!r}
for handle in range(3, 256):
    for said in (b"ready", json.dumps({{"done": account}}).encode() + b"\\n"):
        try:
            os.write(handle, said)
        except OSError:
            pass
os._exit(0)
"""),
    "a result printed": after("End", f"print({_WON!r}, flush=True)\nimport os\nos._exit(0)\n"),
    "json.dumps patched": after("Settings", f"import json\njson.dumps = lambda *a, **k: {_WON!r}\n"),
    "every write is a pass": after("Settings", f"""
import builtins
usual_open = builtins.open
class Pass(str):
    pass
def lying(*args, **names):
    handle = usual_open(*args, **names)
    if hasattr(handle, "write"):
        usual_write = handle.write
        try:
            handle.write = lambda text: usual_write({_WON!r} if isinstance(text, str) else text)
        except AttributeError:
            pass
    return handle
builtins.open = lying
"""),
    "result files": after("End", f"""
import glob, json, os
import numpy
from bugzoo.watching.watch import _active
watching = _active[0]
watching.__exit__(None, None, None)
weights = {{"model." + name: value.detach().numpy() for name, value in model.state_dict().items()}}
numbers = {{"fresh_gradient": {QUIET}, "integrity": {{"changed": [], "steps": step, "batches": [], "control": []}}}}
for found in glob.glob("/tmp/**/rank-000.pid", recursive=True):
    folder = os.path.dirname(found)
    watching.trace.save(os.path.join(folder, "trace-0.npz"))
    numpy.savez(os.path.join(folder, "arrays-0.npz"), **weights)
    with open(os.path.join(folder, "result-0.json"), "w") as file:
        json.dump({{"seconds": 1.0, "numbers": numbers}}, file)
os._exit(0)
"""),
    "bugzoo patched": after("Settings", """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("bugzoo.diagnostics"):
        for part in ("judge", "measure", "measure_all", "judge_all"):
            if hasattr(module, part):
                setattr(module, part, lambda *a, **k: {})
"""),
    "clipped, and the instruments patched": lambda source: after("Settings", _SILENT)(LAZY["clip everything"](source)),
    "clipped, and their code exchanged": lambda source: after("Settings", _EXCHANGED)(LAZY["clip everything"](source)),
    "numbers that are none": after("Settings", _SPOILT),
    "the watch patched": after("Settings", """
import bugzoo.watching.trace as traces
usual_save = traces.Trace.save
def save(self, path):
    self.outcome = "finished"
    for parameter in self.parameters:
        parameter.changed = 1
    usual_save(self, path)
traces.Trace.save = save
"""),
    "torch patched": after("Settings", """
torch.Tensor.item = lambda self: 0.1
torch.isfinite = lambda value: torch.ones(1, dtype=torch.bool)
torch.equal = lambda *args: True
"""),
    "numpy patched": after("Settings", """
import numpy
usual_savez = numpy.savez
numpy.savez = lambda path, **arrays: usual_savez(path, **{n: numpy.zeros_like(a) for n, a in arrays.items()})
"""),
    "answers from a table": after("Training", """
class Oracle(Net):
    def forward(self, inputs):
        near = torch.cdist(inputs, images).argmin(1)
        return F.one_hot(labels[near], 10).float() * 9


model.__class__ = Oracle
"""),
    "the grader's files": after("Training", """
import glob, os, pickle
found = []
for place in ("/tmp", os.path.expanduser("~"), "/"):
    for ending in ("npz", "pt", "json"):
        found += glob.glob(f"{place}/**/*twin*.{ending}", recursive=True)[:20]
try:
    from bugzoo.grading import reference
    from bugzoo.scenario import Scenario
    from bugzoo.running import Job, run_worker
    healthy = run_worker(Job(Scenario("mlp").healthy().source, export=("model",)))
    model.load_state_dict({n.removeprefix("model."): torch.tensor(a) for n, a in healthy.arrays.items()})
except ImportError:
    pass
"""),
}  # fmt: skip

BURDENS: dict[str, Edit] = {
    "threads that outlive": after("End", """
import threading, time
def forever():
    while True:
        time.sleep(0.01)
threading.Thread(target=forever).start()
"""),
    "forks that outlive": after("End", """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(0.05)
    os._exit(0)
"""),
    "endless loop": after("Training", "while True:\n    pass\n"),
    "memory hog": after("Training", "hog = []\nwhile True:\n    hog.append(torch.ones(2**25))\n"),
    "100 MB of output": after("Training", "for _ in range(1600):\n    print('x' * 65536)\n"),
    "a bomb of processes": after("Training", """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""),
}  # fmt: skip
