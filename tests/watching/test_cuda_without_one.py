"""What a watch does on a CUDA device, seen on a machine that has none: torch's fake tensors say that they are on one.

They have shapes and no numbers. Whoever reads a number of one makes the host wait for the device, and is caught at it.
"""

import traceback

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from bugzoo.watching import device, recorder, watch

READS = ("item", "tolist", "cpu", "__bool__", "__int__", "__float__")


@pytest.fixture
def waits(monkeypatch):
    """Places of bugzoo at which a number of a CUDA tensor is read, with 0.5 for an answer."""
    found = []

    def caught(name, original):
        def read(self, *args, **kwargs):
            if not self.is_cuda:
                return original(self, *args, **kwargs)
            frames = [f for f in traceback.extract_stack() if "/bugzoo/" in f.filename]
            found.append(f"{name}: {frames[-1].filename}:{frames[-1].lineno}" if frames else name)
            return {"__bool__": False, "__int__": 1, "cpu": self}.get(name, np.full(self.shape, 0.5).tolist())

        return read

    for name in READS:
        monkeypatch.setattr(torch.Tensor, name, caught(name, getattr(torch.Tensor, name)))
    # what asks the driver itself, which is not there
    monkeypatch.setattr(device.Waiting, "poll", lambda self: False)
    monkeypatch.setattr(device.Waiting, "finish", lambda self: None)
    monkeypatch.setattr(recorder, "memory_mib", lambda params, history: 1.0)
    return found


def test_no_step_reads_a_number_of_the_device(waits, monkeypatch):
    with FakeTensorMode(allow_non_fake_inputs=True):
        net = nn.Sequential(nn.Linear(8, 16, device="cuda"), nn.ReLU(), nn.Linear(16, 2, device="cuda"))
        opt = torch.optim.Adam(net.parameters())
        x, y = torch.randn(32, 8, device="cuda"), torch.zeros(32, dtype=torch.long, device="cuda")

        def engine(*args, **kwargs):
            for weights in net.parameters():
                weights.grad = torch.randn_like(weights)
            return ()

        monkeypatch.setattr(torch.autograd, "_engine_run_backward", engine)  # the real one asks for the driver
        with watch() as trace:
            for _ in range(120):
                opt.zero_grad()
                nn.functional.cross_entropy(net(x), y).backward()
                opt.step()
            assert waits == [], "every step that waits for the device costs the training time"
    assert waits, "at the end all of it is read: were it not seen there, nothing would be"
    assert len(trace.loss) == 120
    assert "watch_errors" not in trace.environment
