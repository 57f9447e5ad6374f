"""`overfit_one_batch` repeats the script's own step: its loss, its update, whatever shape its loop has; or says why not."""

import pytest
import torch

from bugzoo.diagnostics import instrument, read
from bugzoo.diagnostics._example import example
from bugzoo.running import run_here

ONE = instrument("overfit_one_batch")


def ran(source):
    run = run_here(source, file="one.py")
    assert run.outcome == "finished", run.trace.error
    return run


def measured(source):
    reading = read("overfit_one_batch", ran(source))
    assert reading.applies, reading.why_not
    return reading.numbers


def refused(source):
    reading = read("overfit_one_batch", ran(source))
    assert not reading.applies
    return reading.why_not


def test_the_loss_is_the_programs_own():
    """A hand-written one, which no instrument knows: half a cross-entropy, and 0.25 that nothing takes away."""
    numbers = measured(example(("F.cross_entropy(logits, targets[rows])",
                            "0.25 - logits.log_softmax(1).gather(1, targets[rows][:, None]).mean() / 2")).source)  # fmt: skip
    assert numbers["best_loss"] >= 0.25 and numbers["first_loss"] == pytest.approx(0.25 + 1.1 / 2, abs=0.1)


def test_a_softmax_too_many_has_its_floor_here_too():
    """Three classes: ln(e + 2) - 1 = 0.551."""
    numbers = measured(ONE.SICK.source)
    verdict = ONE.judge(numbers)
    assert 0.551 < numbers["best_loss"] < 0.7 and numbers["ratio"] > 0.5
    assert verdict.fired and "0.5" in verdict.message and verdict.suspects[0].cause == "loss/double_softmax"


@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        (("lr=1e-2", "lr=1e-7"), "initialisation/dead_relu"),
        (
            ("optimizer.step()", "[p.grad.zero_() for p in model.parameters()], optimizer.step()"),
            "initialisation/dead_relu",
        ),
    ],
)
def test_the_update_is_the_programs_own(edit, cause):
    verdict = ONE.judge(measured(example(edit).source))
    assert verdict.fired and cause in [suspect.cause for suspect in verdict.suspects], verdict.message


FUNCTION = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long()
def step(model, optimizer, inputs, targets):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()
def main():
    model = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.1), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    seen = []
    for epoch in range(3):
        for number in range(8):
            LINE
            seen.append(step(model, optimizer, x[rows], y[rows]))
    return model, seen
model, seen = main()
"""


@pytest.mark.parametrize(
    "line",
    [
        "rows = torch.randint(256, (32,))",  # drawn by the body
        "rows = slice(32 * number, 32 * number + 32)",  # counted by the loop
    ],
)
def test_a_loop_in_a_function_that_makes_its_batch_itself(line):
    run = ran(FUNCTION.replace("LINE", line))
    before, random = [p.detach().clone() for p in run.namespace["model"].parameters()], torch.get_rng_state()
    reading = read("overfit_one_batch", run)
    assert reading.applies, reading.why_not
    assert reading.numbers["ratio"] < 0.2 and not ONE.judge(reading.numbers).fired
    assert all(map(torch.equal, before, run.namespace["model"].parameters()))
    assert torch.equal(random, torch.get_rng_state()) and len(run.namespace["seen"]) == 24


def test_steps_that_come_every_other_time_are_made():
    """Accumulation counts by the loop's own number: it goes on counting."""
    text = FUNCTION.replace("LINE", "rows = torch.randint(256, (32,))")
    text = text.replace("def step(model", "def step(number, model").replace(
        "step(model, opt", "step(number, model, opt"
    )
    text = text.replace("    optimizer.zero_grad()\n", "").replace(
        "    optimizer.step()\n", "    if number % 2:\n        optimizer.step()\n        optimizer.zero_grad()\n"
    )
    assert measured(text)["ratio"] < 0.2


def test_a_batch_that_is_taken_in_parts_is_one():
    whole = "loss = F.cross_entropy(logits, targets[rows])\n        loss.backward()"
    parts = "for part in rows.split(8):\n            loss = F.cross_entropy(model(inputs[part]), targets[part]) / 4\n"
    parts += "            loss.backward()"
    text = example((whole, parts), ("logits = model(inputs[rows])\n        ", "")).source
    assert measured(text)["ratio"] < 0.2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FUNCTION.replace("LINE", "rows = torch.tensor([next(clock)])").replace("def step", "clock = iter(range(999))\ndef step"),
         "different numbers each time"),
        (example(("nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))", "nn.Linear(8, 3)")).source,
         "27 trainable numbers may be too few to memorize 32 targets"),
        (example(("loss = F.", "loss = -9 + F.")).source, "does not start at a positive number"),
    ],
)  # fmt: skip
def test_where_it_cannot_say_it_says_why(text, why):
    assert why in refused(text)


def test_a_schedule_that_has_ended_is_no_floor():
    rate = "torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: max(0.0, 1 - n / 40))"
    slow = ("lr=1e-2)\n", f"lr=3e-5)\nscheduler = {rate}\n")
    numbers = measured(example(slow, ("optimizer.step()", "optimizer.step()\n        scheduler.step()")).source)
    assert numbers["steps"] < 40 and not ONE.judge(numbers).fired


def test_what_the_training_reached_is_no_floor():
    losses = torch.linspace(2.0, 1.9, 300).numpy()
    assert ONE.judge(ONE.of_losses(losses, training_loss=1.9)).fired
    assert not ONE.judge(ONE.of_losses(losses, training_loss=0.4)).fired
