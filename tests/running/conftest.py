"""One warm process for all tests of this room, and a check that each test leaves nothing running."""

import contextlib
import os
import time

import psutil
import pytest

from bugzoo.running import cool_down, run_worker, warm_up
from bugzoo.running.job import Job

TRAINING = """\
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(64, 8), torch.randint(0, 3, (64,))
for step in range(STEPS):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
metrics = {"loss": loss.item()}
"""


def training(steps: int = 20, then: str = "") -> str:
    """A small training script; `then` goes to its end."""
    return TRAINING.replace("STEPS", str(steps)) + then


@pytest.fixture(scope="session", autouse=True)
def warm():
    warm_up()
    run_worker(Job("pass"))
    yield
    cool_down()
    assert not descendants()


def descendants() -> list[psutil.Process]:
    """Processes below this one; Python's own resource tracker, which other libraries start, stays until the end."""
    processes = []
    for process in psutil.Process(os.getpid()).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if not any("resource_tracker" in word for word in process.cmdline()):
                processes.append(process)
    return processes


@pytest.fixture
def nothing_left():
    """After the test no process is there that was not there before it (supervisors get a moment to exit)."""
    before = {process.pid for process in descendants()}
    yield
    deadline = time.monotonic() + 2
    while (left := [process for process in descendants() if process.pid not in before]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left
