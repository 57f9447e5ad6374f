"""A command that has ended has left nothing in the temporary folder, however it ended."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.sampling import only_in_prove

ENDLESS = "import time\\nfor i in range(10_000):\\n    time.sleep(0.01)\\n"
RANKS = "import torch.distributed as d\\nd.init_process_group('gloo')\\nd.barrier()\\nd.destroy_process_group()\\n"
CALLER = """
from bugzoo.running import Job, Limits, run_worker
if __name__ == "__main__":
    print("ready", flush=True)
    print(run_worker(Job("{source}", limits=Limits(seconds=90), ranks={ranks}, watch=False)).outcome, flush=True)
"""

pytestmark = pytest.mark.serial


def start(tmp_path: Path, source: str, ranks: int = 1) -> tuple[subprocess.Popen, Path]:
    """A process that runs a job, with a temporary folder of its own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    script = tmp_path / "caller.py"
    script.write_text(textwrap.dedent(CALLER).format(source=source, ranks=ranks))
    environment = {**os.environ, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(script)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True), folder


def until(what, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(what())


def left(folder: Path) -> list[str]:
    """Everything but the compiler's cache, which torch makes when it is imported and keeps for the next process."""
    return [path.name for path in folder.iterdir() if not path.name.startswith("torchinductor_")]


def running(folder: Path) -> bool:
    """Has the job's own process begun?"""
    return any(folder.glob("bugzoo-*/*.pid"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [*map(only_in_prove, (signal.SIGINT, signal.SIGTERM)), signal.SIGKILL])
def test_an_interrupted_or_killed_caller_leaves_nothing(number, tmp_path):
    caller, folder = start(tmp_path, ENDLESS)
    with caller:
        assert until(lambda: running(folder)), left(folder)
        caller.send_signal(number)
        caller.wait(60)
    assert until(lambda: not left(folder), 30), left(folder)


@pytest.mark.slow
def test_ranks_leave_nothing(tmp_path):
    """torch's launcher makes folders and files of its own."""
    caller, folder = start(tmp_path, RANKS, ranks=2)
    out, _ = caller.communicate(timeout=120)
    assert out.split() == ["ready", "finished"]
    assert not left(folder)
