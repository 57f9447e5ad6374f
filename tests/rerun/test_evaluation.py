"""The script's evaluation once more: what is run again, what is left out, and that nothing is changed by it."""

import pytest
import torch

from bugzoo.diagnostics import instrument, read
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.evaluation import behind_training, evaluated
from bugzoo.running import run_here

SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
x = torch.randn(100, 4)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
times = [0]
def note():
    times[0] += 1
note()
torch.save(net.state_dict(), PATH)
net.eval()
right = total = 0
losses = []
with torch.no_grad():
    for rows in torch.arange(100).split(64):
        out = net(x[rows])
        losses.append(F.cross_entropy(out, y[rows]).item())
        right += (out.argmax(1) == y[rows]).sum().item()
        total += len(rows)
metrics = {"accuracy": right / total, "loss": sum(losses) / len(losses)}
print(metrics)
"""


def ran(tmp_path, *edits):
    text = SCRIPT.replace("PATH", repr(str(tmp_path / "net.pt")))
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    run = run_here(text, file="evaluation.py")
    assert run.outcome == "finished", run.trace.error
    return run


def test_what_saves_or_calls_is_left_out_and_the_state_is_as_before(tmp_path, capsys):
    run = ran(tmp_path)
    (tmp_path / "net.pt").unlink()
    capsys.readouterr()
    model, state = run.trace.live.models[0], torch.get_rng_state()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    evaluation = evaluated(run)
    assert [len(targets) for _, targets in evaluation.pairs] == [64, 36]
    assert not (tmp_path / "net.pt").exists() and run.namespace["times"] == [1]
    assert capsys.readouterr().out == ""
    assert torch.equal(state, torch.get_rng_state()) and not model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_mean_of_unequal_batches_is_seen_in_the_loss_and_not_in_the_accuracy(tmp_path):
    numbers = read("reported_metric", ran(tmp_path)).numbers
    assert numbers["gap"] == 0 and numbers["loss_gap"] > 1e-3
    right = ran(
        tmp_path, (".item())\n", ".item() * len(rows))\n"), ("sum(losses) / len(losses)", "sum(losses) / total")
    )
    assert not instrument("reported_metric").judge(read("reported_metric", right).numbers).fired


def test_noise_on_the_validation_inputs_is_drawn_anew(tmp_path):
    noisy = ran(tmp_path, ("out = net(x[rows])", "out = net(x[rows] + 0.01 * torch.randn(len(rows), 4))"))
    assert read("validation_shift", noisy).numbers["redrawn"] == 1
    assert read("validation_shift", ran(tmp_path)).numbers["redrawn"] == 0


@pytest.mark.parametrize(
    "source", ["", "x = 1\n", "def main():\n    for i in range(3):\n        loss.backward()\nmain()\n"]
)
def test_without_a_training_loop_at_the_top_level_it_says_so(source):
    with pytest.raises(NotApplicable):
        behind_training(source, set())


def test_an_evaluation_that_raises_is_no_crash(tmp_path):
    run = ran(tmp_path, ("right = total = 0", "right = total = 0\nonce = iter([x])\n"))
    run.source = run.source.replace("out = net(x[rows])", "out = net(gone[rows])")
    reading = read("reported_metric", run)
    assert not reading.applies and "NameError" in reading.why_not


def test_inputs_that_were_made_small_twice_are_told_by_their_range():
    judge = instrument("data_inspection").judge
    numbers = {"samples": 64.0, "shape": [8], "dtype": "float32", "non_finite_share": 0.0, "max": 0.004, "min": 0.0}
    numbers |= {"final_loss": 0.2, "early_loss": 2.0, "outer_broadcast": 0.0, "mask_stretched": 0.0}
    assert [suspect.cause for suspect in judge(numbers).suspects] == ["data/double_scaling"]
    assert not judge(numbers | {"max": 1.0}).fired and not judge(numbers | {"dtype": "int64"}).fired


def test_targets_that_the_loss_leaves_out_count_nowhere(tmp_path):
    """As padding in a batch of sentences: neither right nor wrong, in whatever way the loss is called."""
    hidden = ("with torch.no_grad():", "y[90:] = 9\nwith torch.no_grad():")
    counted = [
        ("F.cross_entropy(out, y[rows]).item()", "F.cross_entropy(out, y[rows], ignore_index=9).item()"),
        ("total += len(rows)", "total += (y[rows] != 9).sum().item()"),
    ]
    numbers = read("reported_metric", ran(tmp_path, hidden, *counted)).numbers
    assert numbers["samples"] == 90 and numbers["gap"] == 0
    module = ("F.cross_entropy(out, y[rows]).item()", "nn.CrossEntropyLoss(ignore_index=9)(out, y[rows]).item()")
    assert read("reported_metric", ran(tmp_path, hidden, module, counted[1])).numbers["samples"] == 90


def test_few_samples_of_many_classes_are_as_far_apart_as_chance_makes_them(tmp_path):
    """Words: 300 classes, most of them rare, and every batch holds other samples."""
    words = [
        ("y = (x[:, 0] > 0).long()", "y = (300 * torch.rand(1400) ** 3).long()"),
        ("x = torch.randn(100, 4)", "x = torch.randn(1400, 4)"),
        ("nn.Linear(16, 2)", "nn.Linear(16, 300)"),
        ("F.cross_entropy(net(x), y)", "F.cross_entropy(net(x[step * 50 :][:50]), y[step * 50 :][:50])"),
        ("torch.arange(100)", "torch.arange(1000, 1400)"),
    ]
    assert read("validation_shift", ran(tmp_path, *words)).numbers["label_distance"] < 0.1
    ordered = [*words[:1], ("net = nn", "y = y.sort().values\nnet = nn"), *words[1:]]
    assert read("validation_shift", ran(tmp_path, *ordered)).numbers["label_distance"] > 0.4


def test_a_global_cache_that_the_evaluation_fills_is_as_before(tmp_path):
    """A generator's cache is a global list of lists: what is asked next must not find it longer."""
    run = ran(
        tmp_path,
        (
            "for step in range(20):\n",  # behind the training it would be made anew with the evaluation
            "caches = [[], {}]\n"
            "def ask(rows):\n    caches[0].append(1)\n    caches[1][len(caches[1])] = rows\n    return net(rows)\n"
            "for step in range(20):\n",
        ),
        ("out = net(x[rows])", "out = ask(x[rows])"),
    )
    caches = run.namespace["caches"]
    assert [len(cache) for cache in caches] == [2, 2]
    assert len(evaluated(run).pairs) == 2
    assert [len(cache) for cache in caches] == [2, 2] and run.namespace["caches"] is caches
