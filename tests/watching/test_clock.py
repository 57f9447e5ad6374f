"""A busy machine's slowness is not the training's."""

import os
import subprocess
import sys
import threading
import time

import pytest

from bugzoo.watching.clock import Machine, Waits

from .support import run

STARVED = """
import os, time, torch
from torch import nn
os.sched_setaffinity(0, {CORE})
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
record = []
for _ in range(12):
    until = time.thread_time() + 0.012
    while time.thread_time() < until:  # 12 ms of work
        pass
    if SLEEP:
        time.sleep(0.02)
    loss = net(torch.randn(8, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    record.append(loss.item())
"""

pytestmark = pytest.mark.serial


@pytest.fixture
def core():
    """A processor that three other programs want as well."""
    usual = os.sched_getaffinity(0)
    core = min(usual)
    busy = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(3)]
    yield str(core)
    for other in others:
        other.kill()
        other.wait()
    os.sched_setaffinity(0, usual)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/thread-self/schedstat"), reason="this system does not say who waited")
@pytest.mark.parametrize(
    ("sleep", "low", "high"), [("False", 11, 20), ("True", 31, 45)], ids=["work", "work and sleep"]
)
def test_waiting_for_a_processor_is_not_waiting_for_data(core, sleep, low, high):
    time.sleep(1)  # until the others have begun
    began = time.perf_counter()
    _, trace = run(STARVED.replace("CORE", core).replace("SLEEP", sleep), "starved.py", watched=True)
    took = (time.perf_counter() - began) / 12 * 1000
    data = sorted(trace.data_ms[2:])[5]
    assert low <= data <= high, (data, took)
    assert took > 1.5 * data, "the machine was not busy, so that this shows nothing"


def test_it_never_runs_backwards_and_ends():
    waits = Waits()
    before = waits.seconds()
    assert 0 <= before <= waits.seconds()
    waits.close()
    assert waits.seconds() >= before


def test_a_thread_that_has_ended_waits_no_longer():
    waits = Waits()
    thread = threading.Thread(target=waits.seconds)
    thread.start()
    thread.join()
    assert waits.seconds() == waits.seconds()
    waits.close()


def test_how_idle_the_machine_is():
    machine = Machine()
    assert machine.idle() is None  # too soon
    time.sleep(0.3)
    share = machine.idle()
    assert share is None or 0 <= share <= 1
