"""What a hostile script does to its supervisor, to the grading slot and to the kernel's memory, in the real sandbox."""

import tempfile

import pytest

from bugzoo.machine import cores
from bugzoo.running import Job, Limits, run_worker, worker
from bugzoo.running.account import Account
from bugzoo.running.intake import MOST, Intake
from bugzoo.running.result import Run
from tests.sampling import only_in_prove

pytestmark = pytest.mark.usefixtures("sandboxed")
OWN_MIB = 128
"""What a supervisor may need itself; its limit is twice that."""
CHANNELS = """
import fcntl, os, stat
ends = []
for end in range(3, 1024):
    try:
        mode, writes = os.fstat(end).st_mode, fcntl.fcntl(end, fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR)
        if writes and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            ends.append(end)
    except OSError:
        pass
assert ends
def say(data):
    for end in ends:
        os.write(end, data)
"""


@pytest.fixture
def judged(monkeypatch):
    """Run a job of other people's code; return its Run and its supervisor's account."""
    accounts: list[Account] = []
    through = worker._through_zygote

    def kept(*given) -> Account:
        accounts.append(through(*given))
        return accounts[-1]

    monkeypatch.setattr(worker, "_through_zygote", kept)

    def run(source: str, on_step=None, **limits) -> tuple[Run, Account]:
        job = Job(source, isolated=True, withheld={}, watch=False, quiet=True, limits=Limits(**limits))
        return run_worker(job, on_step), accounts[-1]

    return run


FLOOD = """
for number in range(0, 250_000, 500):
    say(b"".join(b'{"step": %d, "loss": 1.%d, "grad_norm": 2.%d, "rank": %d}\\n' % (at, at, at, rank)
                 for rank in range(2) for at in range(number, number + 500)))
print("all said")
"""


@pytest.mark.slow
@pytest.mark.parametrize("relay", [only_in_prove(False), True])
def test_a_flood_of_steps_is_taken_in_up_to_a_number(judged, relay):
    """With ranks that the job does not have; each list of three numbers once took 170 bytes."""
    infos = []
    run, account = judged(CHANNELS + FLOOD, on_step=infos.append if relay else None)
    assert run.outcome == "finished" and run.stdout == "all said\n"
    assert list(account.steps) == ["0"] and len(account.steps["0"]) == MOST
    assert account.steps["0"][1] == [1, 1.1, 2.1]
    assert bool(infos) == relay and all(set(info) == {"step", "loss", "grad_norm", "seconds"} for info in infos)
    assert account.supervisor_mib < OWN_MIB


@pytest.mark.slow
def test_who_never_stops_writing_is_stopped_by_the_clock(judged):
    """The supervisor once read the pipe until it was empty, and looked at no limit meanwhile."""
    run, account = judged(CHANNELS + "for _ in range(2**17): say(b'x' * 2**16)", seconds=2)
    assert run.outcome == "timed_out" and account.supervisor_mib < OWN_MIB


@pytest.mark.parametrize(
    "line",
    [
        "b'[' * 4000",
        "b'[' * 100_000",
        'b\'{"step": Infinity, "loss": 1, "grad_norm": 1, "rank": 0}\'',
        'b\'{"step": 1, "loss": 1\' + b\'0\' * 400 + b\', "grad_norm": 1, "rank": 0}\'',
        'b\'{"step": 1, "loss": 1, "grad_norm": 1, "rank": -1}\'',
        "b'\\xff\\x00'",
        "b'[]'",
    ],
)
def test_a_line_that_is_no_step_is_dropped(judged, line):
    """One that was nested too deeply killed the supervisor, so that nothing was graded and no attempt was counted."""
    right = 'b\'{"step": 7, "loss": 1, "grad_norm": 1, "rank": 0}\\n\''
    run, account = judged(CHANNELS + f"say({line} + b'\\n')\nsay({right})")
    assert run.outcome == "finished" and account.steps == {"0": [[7, 1, 1]]}


def test_a_step_in_two_pieces_is_one():
    intake = Intake(1, relay=True)
    assert not intake.take(b'{"step": 1, "loss": NaN, "gra') and not intake
    assert intake.take(b'd_norm": 1, "rank": 0}\n') and intake
    assert intake.rows()["0"][0][0] == 1 and intake.unsent.count(b"\n") == 1


STACKS = """
import glob, os, signal, tempfile, threading
place = glob.glob(tempfile.gettempdir() + "/bugzoo-*")[0]
signal.signal(signal.SIGUSR1, lambda *_: None)
with open(f"{place}/stack-{os.getpid()}.txt", "w") as file:
    file.write("Current thread\\n" + ('  File "train.py", line x' + "y" * 2**20 + "\\n") * 60)
for number in range(5000):
    open(f"{place}/rank-{number:05d}.pid", "w").write("1")
while True: pass
"""


@pytest.mark.slow
def test_a_stack_that_the_script_wrote_is_read_in_part(judged):
    run, account = judged(STACKS, seconds=1)
    assert run.outcome == "timed_out" and account.supervisor_mib < OWN_MIB
    assert sum(len(line) for stack in account.stacks.values() for line in stack) < 2**20


EMPTY = """
import os
made = 0
try:
    while made < 300_000:
        os.close(os.open(f"PLACE/{made}", os.O_CREAT | os.O_WRONLY))
        made += 1
finally:
    print(made)
"""


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_empty_files_are_counted(judged, place):
    run, account = judged(EMPTY.replace("PLACE", place))
    assert run.outcome == "crashed" and "No space left" in run.trace.error["message"]
    assert int(run.stdout.split()[0]) < 20_000 and not run.trouble and account.supervisor_mib < OWN_MIB


def test_so_are_those_in_its_own_folder(judged):
    text = "import glob, tempfile\nplace = glob.glob(tempfile.gettempdir() + '/bugzoo-*')[0]" + EMPTY
    run, account = judged(text.replace("PLACE", "{place}"), result_mib=8)
    assert account.full and run.trace.error["type"] == "DiskLimit" and "files" in run.trace.error["message"]


THREADS = """
import threading, time
started = 0
try:
    while started < 1000:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        started += 1
finally:
    print(started)
"""


def test_threads_count_with_processes(judged):
    run, _ = judged(THREADS, processes=4, seconds=20)
    assert run.outcome == "crashed" and int((run.stdout or "0").split()[0]) < 32, run.stdout


HIDDEN = """
import ctypes, os
try:
    os.memfd_create("x")
except OSError as error:
    print(error.errno)
print(ctypes.CDLL(None, use_errno=True).shmget(0, 2**20, 0o1600))
"""


def test_no_memory_belongs_to_no_process(judged):
    """Files in memory that no folder shows, and segments of System V: no limit counts them."""
    run, _ = judged(HIDDEN)
    assert run.stdout == "1\n-1\n"


SPIN = """
import threading, torch
def work():
    a = torch.randn(300, 300)
    while True: a @ a
for _ in range(17):
    threading.Thread(target=work, daemon=True).start()
work()
"""


@pytest.mark.serial
def test_threads_that_compete_with_each_other_use_up_the_time(judged):
    """Each waits for a core most of the time, but only for its own kind. It once got three times its limit and more."""
    run, account = judged(SPIN, seconds=4)
    assert run.outcome == "timed_out"
    assert 0.9 * 4 < account.processor_s < 1.4 * 4 * cores()


BOMB = f"""
import glob, os, zipfile
folder = glob.glob({tempfile.gettempdir()!r} + "/bugzoo-*")[0]
with zipfile.ZipFile(folder + "/trace-0.npz", "w", zipfile.ZIP_DEFLATED) as file, file.open("loss.npy", "w") as part:
    for _ in range(200):
        part.write(bytes(2**20))
open(folder + "/result-0.json", "w").write("[" + "[]," * 2**21 + "1]")
os._exit(0)
"""


@pytest.mark.slow
def test_a_bomb_as_its_result_is_the_scripts_own_doing(judged):
    run, account = judged(BOMB, result_mib=64)
    assert run.outcome == "crashed" and run.spoilt and "left behind" in run.trouble
    assert account.supervisor_mib < OWN_MIB and not account.trouble


def test_a_supervisor_without_memory_of_its_own_says_so(judged):
    """Nothing that it takes in needs so much; so here it keeps all that is printed."""
    run, account = judged("while True: print('x' * 2**20)", output_mib=4096)
    assert run.spoilt and "too much memory" in run.trouble and account.supervisor_mib < 4 * OWN_MIB
