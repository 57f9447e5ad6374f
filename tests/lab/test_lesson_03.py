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


def said(text: str, pattern: str) -> list[float]:
    """The numbers that a text names where the pattern's groups are."""
    found = re.search(pattern, " ".join(text.split()))
    assert found, f"the text does not say {pattern!r} any more"
    return [float(number) for number in found.groups()]


@pytest.fixture(scope="module")
def runs():
    return run_here(INCIDENT.source, "mlp.py"), run_here(INCIDENT.healthy().source, "healthy.py")


def test_table_of_the_incident(runs) -> None:
    trace, healthy = (run.trace for run in runs)
    assert (trace.loss[:50] == healthy.loss[:50]).all()
    # another processor rounds otherwise: the text must be right to about a hundredth
    named = said(CELLS["numbers-read"], r"Loss ([\d.]+) at step 50, gradient norm ([\d.]+)")
    assert named == pytest.approx([trace.loss[49], trace.grad_norm[49]], abs=0.02)
    assert said(CELLS["numbers-read"], r"At step 51 the loss is (\d\.\d+)") == pytest.approx([trace.loss[50]], abs=0.02)
    assert math.isnan(trace.grad_norm[50]) and math.isnan(trace.loss[51])
    assert np.isfinite(trace.loss[:51]).all() and np.isfinite(trace.grad_norm[:50]).all()
    assert trace.loss[50] != healthy.loss[50]
    asked = find("QUESTIONS", "03/finite_loss").text
    assert said(asked, r"the loss is (\d\.\d+)") == pytest.approx([trace.loss[50]], abs=0.02)


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
    right = next(answer for answer in find("QUESTIONS", "03/eps").answers if answer.right)
    named = said(right.why, r"about ([\d.]+) like") + said(CELLS["eps-read"], r"accuracy of about ([\d.]+), as")
    for run in (with_eps, runs[1]):
        assert named == pytest.approx([run.trace.metrics["accuracy"]] * 2, abs=0.015)
    assert np.isfinite(with_eps.trace.loss).all() and len(with_eps.trace.loss) == 216
    assert "almost twice the healthy one" in " ".join(CELLS["eps-read"].split())
    assert 1.5 < with_eps.trace.metrics["loss"] / runs[1].trace.metrics["loss"] < 2
    assert f"{torch.tensor(1e-9).log().item():.1f}" == "-20.7"


def test_a_length_written_out_has_no_gradient_at_zero_and_norm_has() -> None:
    assert "`(x ** 2).sum().sqrt()`" in CELLS["arithmetic-read"] and "`x.norm()`" in CELLS["arithmetic-read"]
    for length, lost in ((lambda x: (x**2).sum().sqrt(), True), (lambda x: x.norm(), False)):
        x = torch.zeros(2, requires_grad=True)
        value = length(x)
        value.backward()
        assert value.item() == 0 and x.grad.isnan().all().item() is lost


def test_without_the_relu() -> None:
    text = Scenario("mlp", ("numerics/log_at_step?step=50&eps=1e-9",)).source
    run = run_here(text.replace("        hidden = F.relu(hidden)\n", ""))
    before, after = run.trace.grad_norm[49], run.trace.grad_norm[50]
    named = said(CELLS["without-relu-read"], r"about ([\d.]+) and then ([\d.]+):")
    assert named == pytest.approx([before, after], rel=0.1) and 3.5 < after / before < 4.8
    assert run.outcome == "finished"
    bare = run_here(INCIDENT.source.replace("        hidden = F.relu(hidden)\n", ""))
    assert math.isnan(bare.trace.loss[50]) and np.isfinite(bare.trace.loss[49])


@pytest.mark.parametrize("eps", ["1e-12", "1e-6", "1e-3", "1e-2", "1e-1", "1.0"])
def test_no_eps_on_the_slider_makes_it_as_good_as_its_twin(runs, eps) -> None:
    assert "With the smallest eps above 0 no loss is `nan`" in CELLS["break-text"]
    run = Scenario("mlp", (f"numerics/log_at_step?step=50&eps={eps}",)).run()
    assert np.isfinite(run.trace.loss).all() and run.trace.metrics["loss"] > 1.5 * runs[1].trace.metrics["loss"]


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


def test_the_second_case_is_as_the_text_says() -> None:
    """Two good epochs, then the same family of trouble at another step of another program."""
    case = lab.case("03/second")
    run = case.run()
    event = run.trace.first_non_finite()
    assert (event.step, event.data["op"]) == (78, "log") and 2 * 36 < event.step <= 3 * 36
    assert len(run.trace.step) == 5 * 36 and np.isfinite(run.trace.loss[:78]).all()
    replay = run.trace.replay(78)
    assert replay.faithful and "torch.log" in replay.first["code"]
    assert case.ticket != INCIDENT.ticket


def test_nothing_is_told_before_it_is_asked() -> None:
    """The explanations before the reveal name neither the operation nor what hides it."""
    order = list(CELLS)
    for name in ("guess", "finite_loss"):
        place = next(cell for cell in order if f'"03/{name}"' in CELLS[cell])
        assert order.index(place) < order.index("hooks")
        told = " ".join(answer.text + answer.why for answer in find("QUESTIONS", f"03/{name}").answers)
        assert not re.search(r"(?i)relu|logarithm|torch\.log", told), name
