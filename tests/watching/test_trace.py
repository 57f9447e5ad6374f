"""What the numbers of a trace say about runs whose answer is known."""

import json
import math
import signal
import sys
import time
import warnings
import zipfile

import numpy as np
import pytest
import torch
from torch import nn

from bugzoo.errors import UserError
from bugzoo.watching import StopRun, Trace, watch

from .styles import STYLES
from .support import run


def test_losses_and_gradients_are_the_scripts_own():
    names, trace = run(STYLES["fetched"], "fetched.py", watched=True)
    assert trace.loss.tolist() == names["record"]
    assert trace.step.tolist() == list(range(1, 31))
    assert trace.grad_norm.tolist() == pytest.approx(np.sqrt((trace.param_grad_norm**2).sum(1)).tolist(), rel=1e-6)
    assert [p.name for p in trace.parameters] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert all(p.changed > 0 and p.group == 0 for p in trace.parameters)
    for name in ("forward_ms", "backward_ms", "step_ms"):
        taken = getattr(trace, name)[
            np.isfinite(getattr(trace, name))
        ]  # a step that only waited for a processor has none
        assert (taken >= 0).all() and (taken > 0).sum() > 15
    assert np.isfinite(trace.memory_mib).sum() >= 9
    assert (trace.update_ratio[np.isfinite(trace.update_ratio)] > 0).all()


@pytest.mark.parametrize("style", ["functions", "trainer", "accumulation", "gan", "amp", "fetched", "closure"])
def test_healthy_scripts_have_fresh_gradients(style):
    _, trace = run(STYLES[style], f"{style}.py", watched=True)
    assert np.nanmax(trace.leftover) == 0


def test_stale_gradients_are_seen():
    _, trace = run(STYLES["fetched"].replace("    opt.zero_grad()\n", ""), "stale.py", watched=True)
    assert trace.leftover[0] == 0
    assert (trace.leftover[1:] > 0).all()


def test_accumulation_counts_backwards():
    _, trace = run(STYLES["accumulation"], "accumulation.py", watched=True)
    assert len(trace.step) == 10
    assert set(trace.backwards) == {4}


def test_two_optimisers_are_told_apart():
    names, trace = run(STYLES["gan"], "gan.py", watched=True)
    assert trace.optimizer.tolist() == [0, 1] * 30
    assert trace.loss.tolist() == names["record"]
    assert len(trace.live.models) == 2
    assert np.isnan(trace.param_grad_norm[0]).sum() == 4


def test_scaler_steps_that_are_skipped():
    names, trace = run(STYLES["amp"], "amp.py", watched=True)
    assert trace.loss.tolist() == names["record"][::2]
    skipped = [event.step for event in trace.events if event.kind == "skipped_step"]
    assert skipped and trace.scale[0] == 2.0**30
    assert trace.first_non_finite() is None
    assert trace.graph.autocast == "float16"


def test_batches_hold_inputs_and_targets():
    _, trace = run(STYLES["functions"], "functions.py", watched=True)
    batch = trace.live.batches[0]
    assert batch.args[0].shape == (16, 12) and batch.targets.shape == (16,)
    assert len(trace.live.batches) <= 8
    assert not any(leaf.requires_grad for b in trace.live.batches for leaf in b.args)
    modes = {(f.grad, f.training, f.in_training_loop): f.count for f in trace.forwards}
    assert modes == {(True, True, True): 24, (False, False, False): 24}


def test_keyword_arguments_of_the_model_are_kept():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 3)

        def forward(self, *, features):
            return self.linear(features)

    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with watch() as trace:
        for _ in range(3):
            opt.zero_grad()
            nn.functional.cross_entropy(net(features=torch.ones(4, 2)), torch.zeros(4, dtype=torch.long)).backward()
            opt.step()
    assert trace.live.batches[0].kwargs["features"].shape == (4, 2)


def test_the_graph_tells_a_second_softmax():
    source = """
import torch
from torch import nn
net = nn.Linear(4, 5)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    nn.CrossEntropyLoss()(OUT(net(torch.randn(8, 4))), torch.randint(0, 5, (8,))).backward()
    opt.step()
"""
    _, twice = run(source.replace("OUT", "nn.Softmax(-1)"), "twice.py", watched=True)
    _, once = run(source.replace("OUT", ""), "once.py", watched=True)
    assert twice.graph.softmax_before_loss and not once.graph.softmax_before_loss
    assert twice.graph.log_prob_spread < 1 < once.graph.classes == 5


def test_module_statistics():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 50), nn.ReLU(), nn.Linear(50, 50), nn.Tanh(), nn.Linear(50, 2))
    nn.init.constant_(net[0].bias, -100.0)
    nn.init.constant_(net[2].bias, 9.0)
    opt = torch.optim.SGD(net.parameters(), lr=1e-6)
    with watch() as trace:
        for _ in range(3):
            opt.zero_grad()
            net(torch.randn(8, 4)).sum().backward()
            opt.step()
    stats = {name: trace.module_stats[0, i] for i, name in enumerate(trace.modules)}
    assert stats["Sequential.1 (ReLU)"][2] == 1
    assert stats["Sequential.3 (Tanh)"][3] == 1
    assert stats["Sequential.0 (Linear)"][4] == 0


def test_stop_from_on_step_keeps_the_partial_trace():
    steps = []

    def stop(info):
        steps.append(info)
        if info["step"] == 7:
            raise StopRun

    _, trace = run(STYLES["fetched"], "fetched.py", watched=True, on_step=stop)
    assert trace.outcome == "stopped" and len(trace.loss) == 7
    assert set(steps[0]) == {"step", "loss", "grad_norm", "seconds", "validation"}


def test_a_crash_keeps_the_trace_and_names_the_line():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with pytest.raises(RuntimeError), watch() as trace:
        for step in range(5):
            net(torch.ones(1, 2 if step < 3 else 4)).sum().backward()
            opt.step()
    assert trace.outcome == "crashed" and len(trace.step) == 3
    assert trace.error["file"] == __file__ and trace.error["type"] == "RuntimeError"


def test_watches_do_not_nest():
    with watch(), pytest.raises(UserError, match="cannot be nested"), watch():
        pass
    with watch() as trace:
        pass
    assert trace.outcome == "finished" and len(trace.step) == 0


def test_saved_and_loaded(tmp_path):
    _, trace = run(STYLES["gan"], "gan.py", watched=True)
    loaded = Trace.load(trace.save(tmp_path / "gan"))
    for name, value in vars(trace).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(loaded, name), value)
        elif name != "live":
            assert json.dumps(getattr(loaded, name), default=vars) == json.dumps(value, default=vars), name
    assert loaded.parameters[0].shape == trace.parameters[0].shape
    with zipfile.ZipFile(tmp_path / "gan.npz") as archive:
        assert all(entry.filename.endswith(".npy") for entry in archive.infolist())


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files")
def test_a_full_disk_leaves_no_broken_file(tmp_path):
    """A real refusal to write: the system lets this process's files grow to 1 KiB and no further."""
    import resource

    _, trace = run(STYLES["gan"], "gan.py", watched=True)
    path = trace.save(tmp_path / "gan.npz")
    before = path.read_bytes()
    assert len(before) > 2048
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        for name in ("gan.npz", "new.npz"):
            with pytest.raises(UserError, match=r"could not be written: File too large"):
                trace.save(tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    assert Trace.load(path).loss.tolist() == trace.loss.tolist()


@pytest.mark.parametrize("content", [b"", b"not a trace", None])
def test_what_is_no_trace_is_said(tmp_path, content):
    path = tmp_path / "some.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match="trace"):
        Trace.load(path)


def test_optimiser_without_backward_and_frozen_parameters():
    net = nn.Linear(2, 2)
    net.bias.requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with watch() as trace:
        opt.step()
        opt.step()
    assert trace.backwards.tolist() == [0, 0] and math.isnan(trace.loss[0])
    assert trace.first_non_finite() is None and trace.outcome == "finished"


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_no_synchronisation_on_cuda():
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).cuda()
    opt = torch.optim.Adam(net.parameters())
    x, y = torch.randn(32, 8, device="cuda"), torch.zeros(32, dtype=torch.long, device="cuda")

    def train(steps):
        for _ in range(steps):
            opt.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            opt.step()

    with watch() as trace:
        train(12)
        try:
            with warnings.catch_warnings(action="ignore"):  # torch warns that this mode is a prototype
                torch.cuda.set_sync_debug_mode("error")
            train(60)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    assert "watch_errors" not in trace.environment
    assert np.isfinite(trace.loss).all() and len(trace.loss) == 72


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("starved", [False, True])
def test_waiting_for_the_gpu_is_not_waiting_for_data(starved):
    """`loss.item()` waits for kernels after the step; only a device without work waits for data."""
    net = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(4)]).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    x = torch.randn(4096, 4096, device="cuda")
    with watch() as trace:
        for _ in range(12):
            if starved:
                time.sleep(0.05)
            opt.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            opt.step()
            loss.item()
    data = np.median(trace.data_ms[2:])
    assert (data > 45) if starved else (data < 10), trace.data_ms


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_where_the_first_nan_arose_is_found_though_it_is_known_later():
    """Numbers arrive in blocks, some fifty steps later: the replay starts at a snapshot from before."""
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).cuda()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.randn(32, 8, device="cuda")
    with watch() as trace:
        for step in range(300):
            opt.zero_grad()
            hidden = model(x)
            loss = torch.log(hidden - hidden.min()).mean() if step == 120 else hidden.mean() ** 2
            loss.backward()
            opt.step()
    event = trace.first_non_finite()
    assert event is not None and (event.step, event.data["op"]) == (121, "log") and event.data["line"]
