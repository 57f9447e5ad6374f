"""Scripts that evaluate in functions: which one is called once more, with what, and that nothing else is done again."""

import pytest

from bugzoo.diagnostics import instrument, read
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.evaluation import evaluated
from bugzoo.running import run_here

SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


@torch.no_grad()
def accuracy(model, x, y, seen, size=64):
    model.eval()
    right = []
    for rows in torch.arange(len(x)).split(size):
        right.append((model(x[rows]).argmax(1) == y[rows]).float())
    model.train()
    seen.append(len(x))
    return torch.cat(right).mean().item()


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Linear(16, 2))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.epochs = 0

    def epoch(self, x, y):
        for rows in torch.randperm(len(x)).split(20):
            self.optimizer.zero_grad()
            F.cross_entropy(self.net(x[rows]), y[rows]).backward()
            self.optimizer.step()
        self.epochs += 1


def main():
    x = torch.randn(300, 4) + 3
    y = (x[:, 0] > 3).long()
    (x, x_test), (y, y_test) = x.split(200), y.split(200)
    trainer, seen = Trainer(), []
    for epoch in range(3):
        trainer.epoch(x, y)
        print(accuracy(trainer.net, x_test, y_test, seen))
    print(accuracy(trainer.net, x, y, seen))
    return trainer, seen


trainer, seen = main()
"""


def ran(*edits):
    text = SCRIPT
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    run = run_here(text, file="functions.py")
    assert run.outcome == "finished", run.trace.error
    return run


def said(name, run):
    """(numbers, verdict) of an instrument."""
    numbers = read(name, run).numbers
    return numbers, instrument(name).judge(numbers)


def test_the_function_that_only_evaluates_is_kept_from_each_line_that_calls_it():
    evaluations = ran().trace.live.evaluations
    assert [evaluation.name for evaluation in evaluations] == ["accuracy", "accuracy"]
    assert [len(evaluation.again.args[1]) for evaluation in evaluations] == [100, 200]


def test_it_is_called_once_more_and_nothing_is_trained_or_noted():
    run = ran()
    trainer, notes = run.namespace["trainer"], list(run.namespace["seen"])
    weights = [tensor.clone() for tensor in trainer.net.parameters()]
    evaluation = evaluated(run)
    assert [len(tensor) for tensor in evaluation.inputs] == [64, 64, 64, 8]
    assert (trainer.epochs, run.namespace["seen"]) == (3, notes)
    assert all((tensor == other).all() for tensor, other in zip(weights, trainer.net.parameters(), strict=True))


def test_an_evaluation_among_other_inputs_than_the_training_is_seen():
    assert not said("validation_shift", ran())[1].fired
    # the first of two evaluations only
    _, raw = said("validation_shift", ran(("(trainer.net, x_test,", "(trainer.net, 50 * x_test,")))
    assert [suspect.cause for suspect in raw.suspects] == ["data/wrong_normalisation"]


def test_a_mean_of_batch_means_that_is_returned_is_known_by_being_one():
    right, verdict = said("reported_metric", ran())
    assert right["gap"] == 0 and not verdict.fired
    by_batches = ((".float())\n", ".float().mean())\n"), ("torch.cat(right)", "torch.stack(right)"))
    wrong, _ = said("reported_metric", ran(*by_batches, ("1e-2", "1e-4")))
    assert wrong["by_batches"] == 1 and wrong["gap"] == pytest.approx(abs(wrong["reported"] - wrong["recomputed"]))
    assert 0 < wrong["gap"] < 0.1


def test_a_function_that_saves_or_trains_is_not_called_again():
    for line in (
        "    torch.save(model.state_dict(), '/dev/null')\n",
        "    loss = model(x).sum() * 0\n    loss.requires_grad_()\n    loss.backward()\n",
    ):
        run = ran(("    seen.append(len(x))\n", line + "    seen.append(len(x))\n"))
        with pytest.raises(NotApplicable):
            evaluated(run)


def test_what_was_drawn_before_the_first_step_is_not_called_again():
    run = ran(
        (
            "    for epoch in range(3):\n",
            "    trainer.net.eval()\n    with torch.no_grad():\n        trainer.net(x)\n    for epoch in range(3):\n",
        )
    )
    first = run.trace.live.evaluations[0]
    assert (first.name, first.again) == ("main", None)


INLINE = """
import torch
import torch.nn.functional as F

torch.manual_seed(0)


class Trainer:
    def __init__(self, net):
        self.net, self.best, self.history = net, 0.0, []

    def fit(self, x, y, epochs):
        optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)

        def closure():
            loss = F.cross_entropy(self.net(x[:200]), y[:200])
            optimizer.zero_grad()
            loss.backward()
            return loss

        for epoch in range(epochs):
            self.net.train()
            optimizer.step(closure)
            self.net.eval()
            with torch.no_grad():
                logits = self.net(input=x[200:])
                loss = F.cross_entropy(logits, y[200:]).item()
                self.best = self.best + 1
                self.history.append(loss)
            if epoch > 90:
                break
        return self


def main():
    x = torch.randn(300, 4)
    y = (x[:, 0] > 0).long()
    trainer = Trainer(torch.nn.Sequential(torch.nn.Linear(4, 2))).fit(x, y, 5)
    metrics = {"loss": trainer.history[-1], "accuracy": 0.0}
    return trainer


trainer = main()
"""


def test_statements_in_the_epoch_loop_of_a_method_run_again_and_its_object_is_as_before():
    run = run_here(INLINE, file="inline.py")
    assert run.outcome == "finished", run.trace.error
    evaluation, trainer = evaluated(run), run.namespace["trainer"]
    assert [len(targets) for _, targets in evaluation.pairs] == [100] and len(evaluation.inputs) == 1
    assert evaluation.loss() == pytest.approx(trainer.history[-1])
    assert (trainer.best, len(trainer.history)) == (5, 5)
    assert run.trace.metrics["loss"] == trainer.history[-1], "a local dict of numbers"


def test_an_evaluation_behind_the_loop_of_main_comes_before_the_one_in_the_loop():
    behind = (
        "    with torch.no_grad():\n        metrics = {'loss': F.cross_entropy(trainer.net(x[:50]), y[:50]).item()}\n"
    )
    run = run_here(INLINE.replace("    return trainer\n", behind + "    return trainer\n"), file="inline.py")
    evaluation = evaluated(run)
    assert [len(targets) for _, targets in evaluation.pairs] == [50]
    assert read("reported_metric", run).numbers["loss_gap"] < 1e-6
