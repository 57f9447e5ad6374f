"""Portable mode: everything that a student does works without fork, /proc, prctl, namespaces and mounts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interview import test_play
from tests.sampling import only_in_prove

ROOT = Path(__file__).resolve().parents[2]
FORBIDDEN = '''\
"""Put before everything else in each Python process: bugzoo itself may use nothing that only Linux has."""
import os
import sys

PACKAGE = {package!r} + os.sep
NOTES = {notes!r}


def mine():
    """Does code of bugzoo ask? Modules of Python's own library in between ask for it."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(PACKAGE):
            return f"{{name}}:{{frame.f_lineno}}"
        if "site-packages" in name:
            return ""
        frame = frame.f_back
    return ""


def hear(event, args):
    asked = ""
    if event == "open" and isinstance(args[0], str) and args[0].startswith("/proc"):
        asked = args[0]
    elif event in ("os.fork", "os.forkpty", "os.listdir") and (not args or str(args[0]).startswith("/proc")):
        asked = event
    elif event == "ctypes.dlsym" and args[1] in ("prctl", "unshare", "mount", "umount2", "setns"):
        asked = args[1]
    if asked and (place := mine()):
        with open(NOTES, "a") as notes:
            notes.write(f"{{asked}} at {{place}}\\n")
        raise RuntimeError(f"{{asked}} is for Linux alone ({{place}})")


sys.addaudithook(hear)
'''


@pytest.fixture
def portable(tmp_path):
    """(run a command or a text of Python in portable mode, the file with what it asked of Linux)."""
    notes, site = tmp_path / "asked.txt", tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(FORBIDDEN.format(package=str(ROOT / "bugzoo"), notes=str(notes)))
    settings = {"BUGZOO_PORTABLE": "1", "BUGZOO_DATA": str(tmp_path / "data"), "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    path = os.pathsep.join([str(site), str(ROOT), os.environ.get("PYTHONPATH", "")])

    def run(*arguments: str, timeout: float = 300, **extra) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, timeout=timeout, check=False,
            env=os.environ | settings | {"PYTHONPATH": path} | extra.pop("env", {}), cwd=extra.pop("cwd", tmp_path), **extra,
        )  # fmt: skip

    yield run, notes
    assert not notes.exists(), notes.read_text()


RUNS = """
import json
from bugzoo.running import Job, Limits, run_worker
from bugzoo.watching.clock import Machine, Waits
from bugzoo.watching.memory import resident_mib

found, machine = {}, Machine()
run = run_worker(Job("def wait():\\n    while True:\\n        pass\\nwait()", limits=Limits(seconds=1)))
found["endless"] = [run.outcome, run.trace.error["line"] in (2, 3)]
run = run_worker(Job("import torch, time\\nheld = torch.ones(2**28)\\ntime.sleep(60)", limits=Limits(seconds=60, memory_mib=400)))
found["large"] = [run.outcome]
found["machine"] = [resident_mib() > 50, Waits().seconds(), 0 <= machine.idle() <= 1]
print(json.dumps(found))
"""
ENDINGS = """
import json, threading
from bugzoo import Scenario
from bugzoo.running import Job, run_worker, stop_all
from bugzoo.watching import StopRun

found, steps = {}, []
run = run_worker(Scenario("mlp", size="tiny").job(after="bugzoo.diagnostics:measure_all"), on_step=steps.append)
read, peak = run.readings["loss_curve"].applies, run.trace.environment["peak_mib"]
found["plain"] = [run.outcome, len(steps), len(run.trace.loss), read, peak > 0]


def stop(info):
    if info["step"] == 20:
        raise StopRun


run = run_worker(Scenario("mlp", size="tiny").job(), on_step=stop)
found["stopped"] = [run.outcome, 20 <= len(run.trace.loss) < 216]
run = run_worker(Scenario("data_parallel", size="tiny").job())
found["ranks"] = [run.outcome, [len(rank.trace.loss) for rank in run.ranks]]
run = run_worker(Job("print('said'); raise ValueError('no')"))
found["crash"] = [run.outcome, run.trace.error["line"], run.stdout.strip()]
threading.Timer(3, stop_all).start()
found["ended"] = [run_worker(Job("import time; time.sleep(60)")).outcome]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_a_run_has_its_limits_without_linux(portable):
    run, _ = portable
    process = run("-c", RUNS)
    assert process.returncode == 0, process.stderr[-2000:]
    assert json.loads(process.stdout.splitlines()[-1]) == {
        "endless": ["timed_out", True],
        "large": ["out_of_memory"],
        "machine": [True, 0.0, True],
    }


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_run_ranks_a_crash_and_a_stop_from_another_thread_end_without_linux(portable):
    run, _ = portable
    process = run("-c", ENDINGS)
    assert process.returncode == 0, process.stderr[-2000:]
    assert json.loads(process.stdout.splitlines()[-1]) == {
        "plain": ["finished", 216, 216, True, True],
        "stopped": ["stopped", True],
        "ranks": ["finished", [216, 216]],
        "crash": ["crashed", 1, "said"],
        "ended": ["stopped"],
    }


SCRIPT = """
import torch
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long()
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(5):
    for rows in torch.randperm(256).split(32):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", [("--no-rerun",), only_in_prove(())], ids=["one run", "further runs"])
def test_a_checkup_finds_the_bug_without_linux(portable, tmp_path, more):
    run, _ = portable
    (tmp_path / "train.py").write_text(SCRIPT)
    process = run("-m", "bugzoo", "checkup", "train.py", "--json", "-", *more)
    assert process.returncode == 0, process.stderr[-2000:]
    report = json.loads(process.stdout)
    assert report["suspects"][0]["cause"] == "loop/stale_gradients"
    assert report["writes"]["outward"] == {}, "torch's own temporary folder is not a file that the script writes"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".py") == ["train.py"]


NOTEBOOK = """
import sys, nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=200, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        print(cell.id, output.get("text", "") or output.get("data", {}).get("text/plain", ""))
"""


@pytest.mark.slow
@pytest.mark.sampled(0)
@pytest.mark.parametrize("name", ["17_second_opinion", "10_restless_loss"])
def test_an_exercise_is_graded_without_linux(portable, name):
    run, _ = portable
    process = run("-c", NOTEBOOK, str(ROOT / "solutions" / f"{name}.ipynb"))
    assert process.returncode == 0, process.stderr[-3000:]
    assert "passed: 5 of 5 points" in process.stdout and "repair 5.0" in process.stdout


@pytest.mark.slow
@pytest.mark.sampled(0)
def test_lesson_03_holds_without_linux(portable, tmp_path):
    run, _ = portable
    process = run("-m", "bugzoo", "lessons", "check", "03", env={"BUGZOO_PROOFS": str(tmp_path / "proofs")}, cwd=ROOT)
    assert process.returncode == 0 and "03_hunting_nan: proved" in process.stdout, process.stdout + process.stderr


@pytest.mark.slow
@pytest.mark.sampled(0)
def test_an_interview_is_played_without_linux(portable, tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_PORTABLE", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), str(ROOT)]))
    test_play.test_a_whole_session_from_a_pipe(tmp_path)


@pytest.mark.slow
def test_hand_ins_are_refused_before_anything_is_read(portable, tmp_path):
    run, _ = portable
    process = run("-m", "bugzoo", "grade", "submitted", "--assignment", "week_3")
    assert process.returncode == 2
    assert "no sandbox in portable mode" in process.stderr and "Linux" in process.stderr
