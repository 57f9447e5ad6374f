"""Other people's code: what a hostile script can and cannot do."""

import json
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

import bugzoo
from bugzoo.running import Job, Limits, identity, run_worker

from .conftest import training

pytestmark = pytest.mark.usefixtures("sandboxed")


def asked(source: str, **more) -> dict:
    """The JSON that an isolated script prints last."""
    run = run_worker(Job("import os, sys, json, socket\n" + source, isolated=True, withheld={}, **more))
    assert run.outcome == "finished", run.trace.error
    return json.loads(run.stdout.splitlines()[-1])


def test_training_is_the_same_inside():
    inside, outside = (
        run_worker(Job(training(10), isolated=isolated, withheld={}, export=("model",))) for isolated in (True, False)
    )
    assert inside.outcome == "finished", (inside.trace.error, inside.stdout)
    assert inside.trace.loss.tolist() == outside.trace.loss.tolist() and len(inside.trace.loss) == 10
    assert all((inside.arrays[name] == outside.arrays[name]).all() for name in outside.arrays)


NO_WAY_OUT = """
def attempt(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"

print(json.dumps({
    "net": attempt(lambda: socket.create_connection(("1.1.1.1", 53), 2)),
    "chroot": attempt(lambda: os.chroot("/")),
    "processes": [name for name in os.listdir("/proc") if name.isdigit()],
    "parent": os.getppid(),
    "capabilities": [line.split()[1] for line in open("/proc/self/status") if line.startswith("Cap")],
}))
"""


def test_no_network_no_other_process_no_privilege():
    answer = asked(NO_WAY_OUT)
    assert answer["net"] == "OSError" and answer["processes"] == ["1"] and answer["parent"] == 0
    assert answer["chroot"] == "PermissionError" and set(answer["capabilities"]) == {"0" * 16}


LOOK_AROUND = """
def writes(path):
    try:
        open(path, "w").close()
    except OSError:
        return False
    return True

try:
    import bugzoo.faults
    faults = True
except ImportError:
    faults = False
places = ["/x", "/usr/x", sys.prefix + "/x", package + "/x", package + "/running/x", "x"]
print(json.dumps({
    "secret": os.path.exists(secret),
    "faults": faults,
    "package": sorted(os.listdir(package)),
    "programs": os.listdir(package + "/programs"),
    "written": [place for place in places if writes(place)],
    "environment": "SECRET_TOKEN" in os.environ,
    "cwd": os.getcwd(),
    "loaded": [name for name in sys.modules if name.startswith("bugzoo.")],
}))
"""


INSIDE = {f"bugzoo.grading.{name}" for name in ("inside", "rows", "both_modes", "own_step", "loop_body")}


def test_files_are_hidden_or_read_only(tmp_path, monkeypatch):
    secret = tmp_path / "key.txt"
    secret.write_text("the answer")
    monkeypatch.setenv("SECRET_TOKEN", "abc")
    answer = asked(f"secret, package = {str(secret)!r}, {os.path.dirname(bugzoo.__file__)!r}\n" + LOOK_AROUND)
    assert not answer["secret"] and not answer["faults"] and not answer["environment"]
    # of the programs nothing but what two of them read their data from
    names = "__init__.py contracts diagnostics errors.py files.py machine.py plain.py programs rerun running syntax.py watching"
    assert answer["programs"] == ["film_reviews"]
    assert answer["package"] == names.split()
    assert answer["written"] == ["x"] and answer["cwd"] == "/tmp"
    rooms = {name.split(".")[1] for name in answer["loaded"]}
    assert not {"faults", "programs", "scenario"} & rooms
    # a warm process that has graded holds what looks at a submission from inside, and no more of grading
    assert {name for name in answer["loaded"] if name.startswith("bugzoo.grading.")} <= INSIDE


RAISED = """
import resource, torch
try:
    resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))
except (ValueError, OSError):
    pass
torch.ones(2**28)
"""
BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""


@pytest.mark.slow
def test_limits_hold_inside():
    run = run_worker(Job("while True: pass", file="s.py", isolated=True, withheld={}, limits=Limits(seconds=0.5)))
    assert run.outcome == "timed_out" and run.trace.error["stacks"]["0"] == ['File "s.py", line 1 in <module>']
    run = run_worker(Job(RAISED, isolated=True, withheld={}, limits=Limits(memory_mib=200)))
    assert run.outcome == "out_of_memory"
    run = run_worker(Job(BOMB, isolated=True, withheld={}, limits=Limits(seconds=5, processes=8)))
    assert run.outcome == "crashed" and run.trace.error["type"] == "ProcessLimit"
    assert "code 4" in run_worker(Job("import os; os._exit(4)", isolated=True, withheld={})).trace.error["message"]


def test_the_kernel_limits_processes_also_where_root_grades():
    """Before the supervisor has looked: root is exempt from the limit, so that the script must not be root."""
    read = "import resource; print(json.dumps([os.getuid(), resource.getrlimit(resource.RLIMIT_NPROC)[1]]))"
    user, most = asked(read, limits=Limits(processes=8))
    assert most == 64
    assert user == (identity.NOBODY if os.getuid() == 0 else os.getuid())


def test_predictions_are_scored_outside():
    rng = np.random.default_rng(1)
    inputs, targets = rng.normal(size=(64, 8)).astype(np.float32), rng.integers(0, 3, 64)
    lying = training(5, "metrics = {'accuracy': 1.0}\n")
    run = run_worker(Job(lying, isolated=True, withheld={}, predict=(inputs,)))
    assert run.trace.metrics == {"accuracy": 1.0}  # its own claim
    assert (run.arrays["predictions"].argmax(1) == targets).mean() < 0.7  # what it can do


SPOILT = (
    "os.symlink('/etc/passwd', folder + '/result-0.json')",
    "os.mkfifo(folder + '/trace-0.npz'); open(folder + '/result-0.json', 'w').write('{}')",
    "open(folder + '/result-0.json', 'w').write('[' * 100)",
    "open(folder + '/trace-0.npz', 'wb').write(b'PK rubbish'); open(folder + '/result-0.json', 'w').write('{}')",
)
NO_RESULT = (
    "import pickle, numpy; numpy.savez(folder + '/trace-0.npz', json=numpy.array([print], dtype=object))",
    "open(folder + '/rank-000.pid', 'w').write('-1')",
)


@pytest.mark.parametrize("trick", SPOILT + NO_RESULT)
def test_spoilt_result_files_count_as_none(trick):
    source = f"import glob, os\nfolder = glob.glob({tempfile.gettempdir()!r} + '/bugzoo-*')[0]\n{trick}\nos._exit(0)"
    run = run_worker(Job(source, isolated=True, withheld={}))
    assert run.spoilt == (trick in SPOILT) and not len(run.trace.step)
    assert (run.outcome, run.trace.error["type"]) == ("crashed", "NotRead" if run.spoilt else "Exit")


def test_what_the_rooms_of_a_submission_import_can_be_read_there():
    """A module that they come to need and that is hidden fails in the sandbox only, and there everything."""
    from bugzoo.running.isolation import ROOMS

    package, needed = Path(bugzoo.__file__).parent, set()
    for room in ROOMS:
        for file in (package / room).rglob("*.py") if (package / room).is_dir() else [package / room]:
            text = re.sub(r"(?m)^if TYPE_CHECKING:.*\n(?:(?: {4}.*)?\n)*", "", file.read_text(encoding="utf-8"))
            needed |= set(re.findall(r"^ *(?:from|import) bugzoo\.(\w+)", text, re.MULTILINE))
    visible = {room.removesuffix(".py") for room in ROOMS}
    assert needed <= visible, "bugzoo/running/isolation.py: ROOMS"
