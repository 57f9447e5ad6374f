"""When a run began to differ from its twin: found at the step and the line where it was made to, and nothing is changed."""

import pytest

from bugzoo.watching import Trace

from .styles import STYLES
from .support import comparable, random_states, run

BASE = """
import torch
from torch import nn
torch.manual_seed(3)
x = torch.randn(256, 10)
y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.BatchNorm1d(16), nn.Dropout(0.1), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
step = 0
for epoch in range(6):
    net.train()
    for xb, yb in loader:
        step += 1
        opt.zero_grad()
        out = net(xb)
        loss = nn.functional.cross_entropy(out, yb)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        accuracy = (net(x).argmax(1) == y).float().mean()
metrics = {"accuracy": accuracy.item()}
"""
CLIPPED = (
    "        opt.step()",
    "        if step >= 41: nn.utils.clip_grad_norm_(net.parameters(), 0.05)\n        opt.step()",
)
CASES = {
    "a rate": (("lr=1e-3", "lr=2e-3"), 1, "setting", "lr", None),
    "the start": (("nn.Linear(16, 2))", "nn.Linear(16, 2)); net[4].bias.data += 1"), 1, "parameter", "4.bias", None),
    "one batch": (("net(xb)", "net(xb * (1.5 if step == 33 else 1))"), 33, "batch", "argument 1", "net(xb * (1.5"),
    "the loss": (("(out, yb)", "(out, yb, label_smoothing=0.1 * (step > 20))"), 21, "forward", "cross_entropy", "smooth"),
    "a limit": (CLIPPED, 41, "gradient at the step", "4.bias", "opt.step()"),
    "a number drawn": (("step += 1", "step += 1; _ = torch.rand(1) if step == 50 else 0"), 50, "random state", "", None),
    "an evaluation that moves BatchNorm": (("    net.eval()\n", ""), 17, "buffer", "running_mean", None),
    "an evaluation alone": (("(net(x).", "(net(x * 2)."), None, "evaluation", "argument 1", "net(x * 2)"),
    "a metric alone": (("== y)", "== y.roll(1))"), None, "metric", "accuracy", None),
    "an epoch less": (("range(6)", "range(5)"), 81, "length", "the number of steps", None),
    "nothing": (("step += 1", "step = step + 1"), None, "", "", None),
}  # fmt: skip
"""Name -> (what is changed in the twin, first step that differs, what differs, its name, a piece of the twin's line)."""


@pytest.fixture(scope="module")
def healthy():
    return run(BASE, "divergence_healthy.py", watched=True, rewind=True)


@pytest.mark.parametrize("case", CASES)
def test_the_first_difference_is_found_where_it_was_made(case, healthy):
    edit, step, what, name, code = CASES[case]
    text = BASE.replace(*edit, 1)
    assert text != BASE
    _, trace = run(text, f"divergence_{case.replace(' ', '_')}.py", watched=True, rewind=True)
    found = healthy[1].differs_from(trace)
    assert (found.step, found.what, bool(found)) == (step, what, bool(what)), str(found)
    assert name in found.name and (code is None or code in found.there.code), str(found)
    assert not found.why, str(found)
    assert found.to_json()["message"] == str(found)
    if step and what != "length":
        assert found.by == "kept states" and found.replayed and found.here.line, str(found)
    back = trace.differs_from(healthy[1])
    assert (back.step, back.what) == (found.step, found.what)


def test_comparing_changes_nothing(healthy):
    names, trace = run(BASE.replace(*CLIPPED, 1), "divergence_clipped.py", watched=True, rewind=True)
    before, rng = [comparable(one) for one in (names, healthy[0])], random_states()
    assert trace.differs_from(healthy[1]).replayed
    assert [comparable(one) for one in (names, healthy[0])] == before
    assert random_states() == rng


def test_keeping_the_states_leaves_the_run_as_it_is(healthy):
    _, plain = run(BASE, "divergence_plain.py", watched=True)
    assert plain.loss.tolist() == healthy[1].loss.tolist()


@pytest.mark.parametrize("style", STYLES)
def test_no_style_of_a_loop_differs_from_itself(style):
    pair = [run(STYLES[style], f"divergence_{style}_{n}.py", watched=True, rewind=True)[1] for n in (1, 2)]
    found = pair[0].differs_from(pair[1])
    assert not found, str(found)


def test_traces_from_files_are_compared_by_their_numbers(tmp_path, healthy):
    _, trace = run(BASE.replace(*CLIPPED, 1), "divergence_file.py", watched=True)
    kept = [Trace.load(one.save(tmp_path / f"{n}.npz")) for n, one in enumerate((healthy[1], trace))]
    found = kept[0].differs_from(kept[1])
    assert found.step == 41 and found.by == "recorded numbers" and "nothing but numbers" in found.why, str(found)
    same = kept[0].differs_from(kept[0])
    assert not same and "weights" not in str(same)


def test_without_kept_states_it_says_that_it_may_have_begun_earlier():
    pair = [
        run(BASE.replace(*edit, 1), f"divergence_ring_{n}.py", watched=True, snapshots=False)[1]
        for n, edit in enumerate((("", ""), CLIPPED))
    ]
    found = pair[0].differs_from(pair[1])
    assert found.step == 41 and "it may have begun earlier" in str(found)


LATE = BASE.replace(
    "net = nn.Sequential(",
    "class Late(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.register_buffer('late', torch.zeros(1))\n"
    "    def forward(self, x):\n"
    "        return x + self.late * (step > 60)\n"
    "net = nn.Sequential(Late(), ",
)


@pytest.mark.parametrize("begins", [20, 23, 26])
def test_what_shows_late_is_found_where_it_begins(begins):
    """A buffer that is set at one step and used forty later: the numbers of each step show nothing until then."""
    edit = ("        opt.step()\n", f"        opt.step()\n        if step == {begins}: net[0].late += 0.5\n")
    names = [f"divergence_late_{begins}_{n}.py" for n in (1, 2)]
    pair = [
        run(text, name, watched=True, rewind=True)[1]
        for text, name in zip((LATE, LATE.replace(*edit, 1)), names, strict=True)
    ]
    assert [trace.loss[59] for trace in pair] == [pair[0].loss[59]] * 2 and pair[0].loss[60] != pair[1].loss[60]
    found = pair[0].differs_from(pair[1])
    assert found.step is not None and begins <= found.step <= begins + 1, str(found)
    assert found.what in ("buffer", "after") and "late" in found.name, str(found)


def test_a_tolerance_lets_small_differences_be():
    pair = [
        run(BASE.replace("lr=1e-3", f"lr={rate}"), f"divergence_rate_{n}.py", watched=True, rewind=True)[1]
        for n, rate in enumerate((1e-3, 1.0000001e-3))
    ]
    assert pair[0].differs_from(pair[1]).what == "setting"
    assert not pair[0].differs_from(pair[1], tolerance=1e-2)
