"""A script's time is its own: what other programs take from it is not counted, what it wastes itself is."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from bugzoo.running import Job, Limits, run_worker
from bugzoo.running.supervisor import Supervisor
from tests.sampling import only_in_prove

WORK = """
import os, time
os.sched_setaffinity(0, {CORE})
while time.thread_time() < SECONDS:
    pass
print("done")
"""
AGAINST_ITSELF = """
import os
os.sched_setaffinity(0, {CORE})
for _ in range(6):
    if os.fork() == 0:
        break
while True:
    pass
"""

pytestmark = pytest.mark.serial


@pytest.fixture
def core():
    """A processor that four other programs want as well."""
    core = min(os.sched_getaffinity(0))
    busy = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(4)]
    yield str(core)
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="this system does not say who waited")
@pytest.mark.parametrize("isolated", [only_in_prove(False), True])
def test_a_busy_machine_costs_no_script_its_result(core, isolated, request):
    if isolated:
        request.getfixturevalue("sandboxed")
    text = WORK.replace("CORE", core).replace("SECONDS", "3.0")  # of four, and five want them
    run = run_worker(Job(text, watch=False, isolated=isolated, withheld={}, limits=Limits(seconds=4)))
    assert run.outcome == "finished" and run.stdout == "done\n", run.trace.error
    assert run.elapsed > 4, "the machine was not busy, so that this shows nothing"


def test_but_an_idle_one_is_ended_in_time():
    began = time.monotonic()
    run = run_worker(Job("import time\ntime.sleep(60)", watch=False, limits=Limits(seconds=0.5)))
    assert run.outcome == "timed_out" and time.monotonic() - began < 30


@pytest.mark.slow
def test_and_so_is_one_that_waits_for_itself():
    core = str(min(os.sched_getaffinity(0)))
    job = Job(AGAINST_ITSELF.replace("CORE", core), watch=False, limits=Limits(seconds=1))
    run = run_worker(job)
    assert run.outcome == "timed_out" and run.elapsed < 12


@pytest.mark.parametrize(
    ("elapsed", "waited", "used", "cores", "over"),
    [
        (25.0, 20.0, 5.0, 1, False),  # of a busy machine it got a fifth
        (25.0, 14.0, 5.0, 1, True),  # it slept besides
        (25.0, 20.0, 11.0, 1, True),  # its other threads ran meanwhile
        (25.0, 20.0, 15.0, 2, False),
        (25.0, 20.0, 21.0, 2, True),
        (61.0, 60.9, 0.1, 1, True),  # by the clock, last of all
    ],
)
def test_what_counts_is_its_own_time_on_the_cores_that_it_is_entitled_to(elapsed, waited, used, cores, over):
    clock = SimpleNamespace(waited=waited, used=used, most=cores, look=lambda *_, **__: None)
    job = SimpleNamespace(limits=Limits(seconds=10))
    supervisor = SimpleNamespace(job=job, own_time=clock, memory=SimpleNamespace(members=()))
    assert Supervisor._had_its_time(supervisor, elapsed) == over  # pyright: ignore[reportArgumentType]
