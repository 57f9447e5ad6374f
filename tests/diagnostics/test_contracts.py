"""What one room writes and another one reads, each by a real run: nobody reads what is never written."""

import pytest

from bugzoo.diagnostics import instrument, measure_all
from bugzoo.diagnostics.checkup import report
from bugzoo.running import run_here
from tests.sampling import only_in_prove

LOOP = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
opt = torch.optim.SGD(net.parameters(), lr=RATE)
for epoch in range(EPOCHS):
    net.train()
    for rows in torch.arange(256).split(SIZE):
        opt.zero_grad()
        off = LOSS
        off.backward()
        opt.step()
    EVALUATION
"""
MEAN = "nn.functional.cross_entropy(net(x[rows]), y[rows])"


def ran(*names, **words):
    text = LOOP
    for name, value in ({"RATE": 0.05, "EPOCHS": 4, "SIZE": 32, "LOSS": MEAN, "EVALUATION": "pass"} | words).items():
        text = text.replace(name, str(value))
    run = run_here(text, file="contract.py")
    assert run.outcome == "finished", run.trace.error
    run.readings = measure_all(run, names or None, max_cost=1)
    return run


def fired(run, name):
    return instrument(name).judge(run.readings[name].numbers)


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss",
    [
        "nn.functional.cross_entropy(net(x[rows]), y[rows], reduction='sum')",
        only_in_prove("nn.functional.cross_entropy(net(x[rows]), y[rows], reduction='none').sum()"),
    ],
)
def test_a_loss_that_is_summed_over_the_batch_is_told_by_its_size(loss):
    run = ran(LOSS=loss, RATE=0.001)
    verdict = fired(run, "initial_loss")
    assert run.readings["initial_loss"].numbers["rows"] == 32
    assert [suspect.cause for suspect in verdict.suspects] == ["loss/sum_reduction"]
    assert ("loss/sum_reduction",) in [reading.could_be for reading in report(run).readings]


@pytest.mark.slow
@pytest.mark.parametrize("loss", [MEAN, MEAN.replace("y[rows])", "y[rows], reduction='sum') / len(rows)")])
def test_a_mean_is_no_sum(loss):
    assert not fired(ran("initial_loss", LOSS=loss), "initial_loss").fired


def test_a_mean_over_few_rows_that_happens_to_be_as_large_as_their_sum_is_none_either():
    confident = ran(
        "initial_loss", LOSS=MEAN.replace("net(x[rows])", "FACTOR * net(x[rows])"), FACTOR=32, SIZE=4, EPOCHS=1
    )
    assert 0.6 * 4 < confident.readings["initial_loss"].numbers["ratio"] < 1.6 * 4
    assert "loss/sum_reduction" not in [suspect.cause for suspect in fired(confident, "initial_loss").suspects]


@pytest.mark.slow
def test_an_evaluation_that_keeps_its_graph_is_no_training():
    """One step an epoch, and an evaluation with eval() but without no_grad() after each: all as it should be."""
    run = ran("mode_watch", SIZE=256, EPOCHS=20, EVALUATION="net.eval(); net(x)")
    assert not fired(run, "mode_watch").fired, fired(run, "mode_watch").message
    numbers = run.readings["mode_watch"].numbers
    assert (numbers["evaluations"], numbers["train_in_eval_mode"], numbers["train_in_eval_share"]) == (20, 0, 0)
    counts = {(f.training, f.followed_by_backward): f.count for f in run.trace.forwards if f.grad}
    assert counts == {(True, True): 20, (False, False): 20}


@pytest.mark.slow
def test_training_that_goes_on_in_eval_mode_is_still_seen():
    run = ran("mode_watch", SIZE=64, EPOCHS=6, EVALUATION="net.eval(); net.train = lambda mode=True: net")
    verdict = fired(run, "mode_watch")
    assert [suspect.cause for suspect in verdict.suspects] == ["modes/train_mode_not_restored"]
    assert run.readings["mode_watch"].numbers["train_in_eval_share"] == 20 / 24
