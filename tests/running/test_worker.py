"""run_worker: limits, endings, clean-up, with real processes."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import psutil
import pytest

from bugzoo.errors import UserError
from bugzoo.running import Job, Limits, run_here, run_worker, worker
from bugzoo.watching import StopRun

from .conftest import training

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_same_losses_as_here_and_everything_comes_back():
    job = Job(training(20, "print('done')\n"), after="tests.running.measures:steps", export=("model", "x"))
    run = run_worker(job)
    assert run.outcome == "finished", run.trace.error
    here = run_here(training(20))
    assert run.trace.loss.tolist() == here.trace.loss.tolist()
    assert run.trace.metrics == here.trace.metrics
    assert run.stdout == "done\n"
    numbers = run.readings["steps"].numbers
    assert numbers["count"] == 20 and np.isnan(numbers["bad"])
    assert run.readings["none"].why_not == "there is nothing to measure"
    assert run.arrays["model.0.weight"].shape == (16, 8) and run.arrays["x"].shape == (64, 8)
    assert run.namespace == {}


def test_predictions_come_back_without_targets_going_in():
    inputs = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
    run = run_worker(Job(training(5), predict=(inputs,)))
    assert run.arrays["predictions"].shape == (5, 3)


def test_warm_start_imports_nothing_again():
    run = run_worker(
        Job("import sys\nfor name in ('torch', 'torchvision', 'sklearn.datasets'): assert name in sys.modules")
    )
    assert run.outcome == "finished", run.trace.error


def test_what_comes_after_is_imported_once_for_all():
    source = "import sys\nprint('bugzoo.diagnostics.loss_curve' in sys.modules)\n"
    assert run_worker(Job(source, after="bugzoo.diagnostics:measure_all")).stdout == "True\n"


def test_steps_are_followed_and_can_stop_the_run():
    steps = []
    run = run_worker(Job(training(8)), on_step=lambda info: steps.append(info["step"]))
    assert steps == list(range(1, 9)) and run.outcome == "finished"

    def stop(info):
        raise StopRun

    run = run_worker(Job(training(10**7)), on_step=stop)
    assert run.outcome == "stopped" and len(run.trace.step) > 0


@pytest.mark.serial
def test_endless_loop_times_out_with_its_stack():
    source = "def spin():\n    while True:\n        pass\n\nspin()\n"
    run = run_worker(Job(source, file="spin.py", limits=Limits(seconds=0.5)))
    assert run.outcome == "timed_out"
    stack = run.trace.error["stacks"]["0"]
    assert stack[-1].startswith('File "spin.py", line 5') and "in spin" in stack[0]
    assert run.trace.error["file"] == "spin.py"


@pytest.mark.serial
def test_endless_training_times_out_with_its_trace():
    run = run_worker(Job(training(10**7), limits=Limits(seconds=1)))
    assert run.outcome == "timed_out"
    assert len(run.trace.step) > 10 and len(run.trace.parameters) > 0


@pytest.mark.serial
def test_steps_that_cease_are_a_hang():
    source = training(5, "import time\ntime.sleep(1000)\n")
    run = run_worker(Job(source, limits=Limits(quiet_seconds=0.5)))
    assert run.outcome == "hung" and len(run.trace.step) == 5
    assert run.trace.error["line"] == source.count("\n")


@pytest.mark.serial
def test_a_script_that_swallows_interrupts_is_killed():
    source = training(3) + "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"
    run = run_worker(Job(source, limits=Limits(seconds=0.5)))
    assert run.outcome in ("timed_out", "hung")  # as long as a busy machine takes to say that the time is over
    assert run.trace.step.tolist() == [1, 2, 3]  # from the steps it had reported


@pytest.mark.serial
@pytest.mark.parametrize(
    "line",
    [
        "hold = [torch.ones(2**20) for _ in range(1000)]",
        "torch.empty(2**30).fill_(1)",
        "import numpy; numpy.ones(2**30)",
        "hold = [bytearray(2**20) for _ in range(4000)]",
    ],
)
def test_memory_limit_arrives_as_the_allocators_error(line):
    run = run_worker(Job(training(3) + line, file="big.py", limits=Limits(memory_mib=200)))
    assert run.outcome == "out_of_memory", run.trace.error
    assert run.trace.error["file"] == "big.py" and run.trace.error["line"] == training(3).count("\n") + 1
    assert len(run.trace.step) == 3


@pytest.mark.serial
def test_memory_that_the_allocator_does_not_see_is_watched():
    source = (
        "import mmap, time\narea = mmap.mmap(-1, 2**29)\n"
        "for start in range(0, 2**29, 2**20): area[start:start + 2**20] = bytes([1]) * 2**20\ntime.sleep(20)\n"
    )
    run = run_worker(Job(source, limits=Limits(memory_mib=200)))
    assert run.outcome == "out_of_memory" and run.trace.error["type"] == "MemoryLimit"


@pytest.mark.serial
def test_under_its_memory_limit_a_run_finishes():
    assert run_worker(Job("import torch\nx = torch.ones(2**25)", limits=Limits(memory_mib=300))).outcome == "finished"


def test_much_output_keeps_its_start_and_its_end():
    before = psutil.Process().memory_info().rss
    run = run_worker(Job("print('first')\nfor _ in range(100): print('x' * 10**6)\nprint('last')"))
    assert run.outcome == "finished"
    assert run.stdout.startswith("first\n") and run.stdout.endswith("last\n") and "not kept" in run.stdout
    assert len(run.stdout) < 1.1 * 2**20
    assert psutil.Process().memory_info().rss - before < 50 * 2**20


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ("import os; os._exit(0)", "Exit"),
        ("import os; os._exit(9)", "Exit"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "Killed"),
        ("import ctypes; ctypes.string_at(0)", "Killed"),
    ],
)
def test_a_process_that_is_lost_is_a_crash_with_its_steps(ending, kind):
    run = run_worker(Job(training(4) + ending))
    assert (run.outcome, run.trace.error["type"]) == ("crashed", kind)
    assert run.trace.step.tolist() == [1, 2, 3, 4] and np.isfinite(run.trace.loss).all()


def test_sys_exit_and_stdin():
    assert run_worker(Job("import sys; sys.exit()")).outcome == "finished"
    assert run_worker(Job("import sys; sys.exit(2)")).outcome == "crashed"
    assert run_worker(Job("input()")).trace.error["type"] == "EOFError"


def test_forked_children_and_daemons_are_ended():
    source = (
        "import os, subprocess, time\n"
        "subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(1000)\n"
        "    os._exit(0)\n"
    )
    assert run_worker(Job(source)).outcome == "finished"


@pytest.mark.serial
def test_a_fork_bomb_meets_the_process_limit():
    source = "import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(1000)\ntime.sleep(9)"
    run = run_worker(Job(source, limits=Limits(processes=20)))
    assert (run.outcome, run.trace.error["type"]) == ("crashed", "ProcessLimit")


def test_loader_workers_run_and_leave():
    source = training(2) + (
        "from torch.utils.data import DataLoader\n"
        "batches = [len(part) for part in DataLoader(torch.arange(64), batch_size=8, num_workers=2)]\n"
        "assert batches == [8] * 8\n"
    )
    run = run_worker(Job(source))
    assert run.outcome == "finished", run.trace.error


def test_after_that_fails_is_told():
    with pytest.warns(RuntimeWarning, match="no such number"):
        run = run_worker(Job("x = 1", after="tests.running.measures:failing"))
    assert run.readings == {}


def test_bad_jobs_are_refused_with_the_allowed_values():
    with pytest.raises(UserError, match="seconds=0 is not allowed"):
        Limits(seconds=0)
    with pytest.raises(UserError, match="module:function"):
        Job("", after="numpy")
    with pytest.raises(UserError, match="from 1"):
        Job("", ranks=0)


INTERRUPTED = """
import sys
from bugzoo.running import Job, run_many, run_worker, warm_up
warm_up()
run_worker(Job("pass"))
job = Job({source!r})
started = []
def on_step(info):
    if not started:
        started.append(1)
        print("started", flush=True)
try:
    if {many}:
        print("started", flush=True)
        run_many([job] * 4)
    else:
        run = run_worker(job, on_step=on_step)
        print(run.outcome, len(run.trace.step) > 0, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.serial
@pytest.mark.slow
@pytest.mark.parametrize(("many", "answer"), [(False, "stopped True"), (True, "interrupted")])
def test_ctrl_c_in_the_parent(many, answer):
    script = INTERRUPTED.format(source=training(10**7), many=many)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "started\n"
        time.sleep(0.5)
        family = psutil.Process(parent.pid).children(recursive=True)
        assert len(family) >= 3
        os.kill(parent.pid, signal.SIGINT)
        assert parent.stdout.read().strip() == answer
    assert parent.returncode == 0
    assert not [process for process in psutil.wait_procs(family, timeout=3)[1]]


def test_a_stop_before_the_script_has_begun_is_not_laid_to_its_charge(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text(
        "import time\nopen(__file__ + '.begun', 'w').close()\ntime.sleep(30)\ndef measure(run):\n    return {}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    def early():
        while not (tmp_path / "slow_to_import.py.begun").exists():
            time.sleep(0.01)
        worker.stop_all()

    hurry = threading.Thread(target=early, daemon=True)
    hurry.start()
    run = run_worker(Job("x = 1", after="slow_to_import:measure", limits=Limits(seconds=25)))
    hurry.join(5)
    assert (run.outcome, run.trace.error, len(run.trace.step)) == ("stopped", {}, 0)


STOPPED_IN_THE_FORK = """
import os, signal, socket, sys
from bugzoo.running.supervisor import supervise

signal.signal(signal.SIGINT, signal.default_int_handler)
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGINT))
ours, theirs = socket.socketpair()
supervise(theirs, sys.argv[1], sys.argv[1], sys.path, False)
print(ours.recv(2**20).decode())
"""


@pytest.mark.slow
def test_a_stop_that_arrives_inside_the_fork_is_kept_for_the_child(tmp_path):
    Job("print('it ran')").save(tmp_path)
    command = [sys.executable, "-c", STOPPED_IN_THE_FORK, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    account = json.loads(ended.stdout)["done"]
    assert account["exit_code"] == 130 and "it ran" not in account["stdout"]


@pytest.mark.sampled(0)
@pytest.mark.serial
@pytest.mark.slow
def test_killed_parent_leaves_nothing():
    script = textwrap.dedent(INTERRUPTED.format(source=training(10**7), many=False))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "started\n"
        family = psutil.Process(parent.pid).children(recursive=True)
        parent.kill()
    assert not psutil.wait_procs(family, timeout=8)[1]
