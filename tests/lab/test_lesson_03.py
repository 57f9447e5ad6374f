"""Numbers and claims in the text of lesson 03, measured."""

import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from bugzoo import Scenario, lab
from bugzoo.lab.lessons import find, lesson_03
from bugzoo.running import run_here

FILE = Path(__file__).resolve().parents[2] / "notebooks" / "03_hunting_nan.ipynb"
CELLS = {cell.id: cell.source for cell in nbformat.read(FILE, as_version=4).cells}
INCIDENT = lab.case("03/incident")


@pytest.fixture(scope="module")
def runs():
    return run_here(INCIDENT.source, "mlp.py"), run_here(INCIDENT.healthy().source, "healthy.py")


def test_table_of_the_incident(runs) -> None:
    trace, healthy = (run.trace for run in runs)
    assert (trace.loss[:50] == healthy.loss[:50]).all()
    assert f"Loss {trace.loss[49]:.2f} at step 50, gradient norm {trace.grad_norm[49]:.2f}" in CELLS["numbers-read"]
    assert f"At step 51 the loss is {trace.loss[50]:.4f}" in CELLS["numbers-read"]
    assert math.isnan(trace.grad_norm[50]) and math.isnan(trace.loss[51])
    assert np.isfinite(trace.loss[:51]).all() and np.isfinite(trace.grad_norm[:50]).all()
    assert trace.loss[50] != healthy.loss[50]
    assert f"the loss is {trace.loss[50]:.2f}" in find("QUESTIONS", "03/finite_loss").text


def test_no_number_grows_before_the_cliff(runs) -> None:
    trace = runs[0].trace
    assert trace.loss[49] < trace.loss[0] and trace.grad_norm[:50].max() < 3 * np.median(trace.grad_norm[20:50])


def test_a_tenth_of_the_learning_rate_does_not_help() -> None:
    run = Scenario("mlp", INCIDENT.faults, {"learning_rate": 1e-4}).run()
    assert math.isnan(run.trace.loss[-1]) and math.isnan(run.trace.grad_norm[50]) and np.isfinite(run.trace.loss[50])


def test_instrument_and_replay_name_the_line(runs) -> None:
    event = runs[0].trace.first_non_finite()
    assert (event.step, event.data["op"], event.data["direction"]) == (51, "log", "forward")
    replay = runs[0].trace.replay(51)
    assert replay.faithful and "torch.log" in replay.first["code"]
    assert 80 <= len(INCIDENT.source.splitlines()) <= 95, "the lesson says about 90 lines"


def test_accuracies_in_the_eps_question(runs) -> None:
    with_eps = Scenario("mlp", ("numerics/log_at_step?step=50&eps=1e-9",)).run()
    accuracies = [f"{run.trace.metrics['accuracy']:.3f}" for run in (with_eps, runs[1])]
    right = next(answer for answer in find("QUESTIONS", "03/eps").answers if answer.right)
    assert f"{accuracies[0]} against {accuracies[1]}" in right.why
    assert f"{accuracies[0]} against the healthy {accuracies[1]}" in CELLS["eps-read"]
    assert np.isfinite(with_eps.trace.loss).all() and len(with_eps.trace.loss) == 216
    assert f"{torch.tensor(1e-9).log().item():.1f}" == "-20.7"


def test_without_the_relu() -> None:
    text = Scenario("mlp", ("numerics/log_at_step?step=50&eps=1e-9",)).source
    run = run_here(text.replace("        hidden = F.relu(hidden)\n", ""))
    before, after = run.trace.grad_norm[49], run.trace.grad_norm[50]
    assert f"from {before:.2f} to {after:.2f}" in CELLS["without-relu-read"]
    assert run.outcome == "finished"
    bare = run_here(INCIDENT.source.replace("        hidden = F.relu(hidden)\n", ""))
    assert math.isnan(bare.trace.loss[50]) and np.isfinite(bare.trace.loss[49])


def test_number_formats() -> None:
    assert torch.tensor(1e-50).item() == 0 and torch.tensor(2e-45).item() > 0
    assert torch.tensor(1e-9, dtype=torch.float16).item() == 0
    run = Scenario("mlp", ("numerics/log_at_step?step=50&eps=1e-50",)).run()
    assert run.outcome == "non_finite"


def test_every_question_is_asked_and_has_one_right_answer() -> None:
    asked = set(re.findall(r'quick_check\("03/(\w+)"\)', "\n".join(CELLS.values())))
    assert asked == set(lesson_03.QUESTIONS)
    for question in lesson_03.QUESTIONS.values():
        assert len(question.answers) >= 3 and all(answer.why for answer in question.answers)
