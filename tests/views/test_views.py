"""Every view is drawn, healthy and broken, in both themes, and says nothing where it saw nothing."""

import math
import re
import subprocess
import sys
from typing import Any

import pytest

from bugzoo import faults, programs, views
from bugzoo.grading.looks import measured
from bugzoo.running import Reading
from bugzoo.scenario import Scenario
from bugzoo.views import show, views_of
from tests.plots.checks import complaints
from tests.sampling import only_in_prove
from tests.views.conftest import Seen

CASES = (only_in_prove("mlp", ""), ("mlp", "loop/stale_gradients"))


def problems(figure: Any) -> list[str]:
    """What a reader would stumble over: an axis without a name, what is cut off, and what no plot of the lab may have."""
    lines, page = complaints(figure), figure.bbox
    for ax in figure.axes:
        if ax.axison:
            for axis in (ax.xaxis, ax.yaxis):
                labels = [text.get_text() for text in axis.get_ticklabels() if text.get_text()]
                named = [text for text in labels if re.search(r"[A-Za-z]", text.replace("mathdefault", ""))]
                if not axis.get_label_text() and labels and not named and axis.get_visible():
                    lines.append(f"{axis.axis_name} axis without a label: {labels[:3]}")
    for ax in figure.axes:
        box = ax.get_tightbbox()
        if box is not None and (box.x0 < -2 or box.y0 < -2 or box.x1 > page.x1 + 2 or box.y1 > page.y1 + 2):
            lines.append(f"cut off: {box} beyond {page}")
    return list(dict.fromkeys(lines))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in views.names() if name != "repeat"])
@pytest.mark.parametrize(("program", "fault"), CASES)
def test_a_view_is_drawn_and_read(program: str, fault: str, name: str, seen: Seen) -> None:
    reading = seen(program, fault)[name]
    if name == "ranks":
        assert reading.why_not == "the script runs on one rank"
        return
    assert reading.applies, reading.why_not
    text = show.text(name, reading)
    assert "could not measure" not in text and text.startswith(f"{name}: ")
    assert show.seen(name, reading), "a view without a number"
    figure = show.figure(name, reading)
    assert figure is not None and problems(figure) == []


def test_the_search_for_problems_finds_some() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2))
    ax = figure.subplots()
    ax.plot([1, 2], [3, 4])
    ax.text(1, 3, "tiny", fontsize=4)
    ax.text(1, 3.5, "dark", color="black")
    listing = " ".join(problems(figure))
    assert "x axis without a label" in listing and "'tiny' is 6.1 px" in listing and "'dark' in black" in listing


@pytest.mark.slow
def test_a_broken_run_lies_outside_and_its_twin_does_not(seen: Seen) -> None:
    fault = faults.load("loop/stale_gradients")
    telling = views_of([text.split(" ")[0] for text in (*fault.evidence, fault.effect)])
    assert any(views.outside(name, seen("mlp", fault.id)[name].numbers) for name in telling)
    healthy = seen("mlp", "")
    assert [row.label for name in healthy for row in views.outside(name, healthy[name].numbers)] == []


CRASHES = """import torch
from torch import nn
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.ones(5, 3)).sum()
    loss.backward()
    optimizer.step()
"""
NO_MODEL = "print('nothing is trained here')\n"
NO_STEP = """import torch
model = torch.nn.Linear(4, 2)
loss = model(torch.ones(5, 4)).square().mean()
loss.backward()
"""
NOT_FINITE = """import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    optimizer.zero_grad()
    loss = model(torch.full((5, 4), float("nan"))).square().mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "source", [CRASHES, NO_MODEL, NO_STEP, NOT_FINITE], ids=["crashes", "no model", "no step", "nan"]
)
def test_an_odd_run_is_no_reason_to_fail(source: str) -> None:
    for name, reading in measured([view for view in views.names() if view != "repeat"], source).items():
        assert "could not measure" not in reading.why_not, (name, reading.why_not)
        assert show.text(name, reading)
        figure = show.figure(name, reading)
        assert figure is None or problems(figure) == [], name


@pytest.mark.parametrize("name", views.names())
def test_a_view_draws_nothing_from_nothing(name: str) -> None:
    assert show.figure(name, Reading(why_not="no run")) is None
    figure = show.figure(name, Reading({"nothing": 1.0}))
    assert figure is None or problems(figure) == []


@pytest.mark.parametrize("name", views.names())
def test_questions_and_labels_are_short(name: str) -> None:
    question = views.question(name)
    assert question.endswith("?") and 4 <= len(question.split()) <= 18
    labels = [row.label for row in views.rows(name)]
    assert len(set(labels)) == len(labels) and max(map(len, labels)) <= 66
    assert len({row.source for row in views.rows(name)}) == len(labels)


@pytest.mark.slow
@pytest.mark.parametrize("program", [only_in_prove(name) for name in programs.names()])
def test_every_view_on_every_program(program: str, seen: Seen) -> None:
    for name, reading in seen(program, "").items():
        figure = show.figure(name, reading)
        assert figure is None or problems(figure) == [], name
        numbers = [value for value in show.seen(name, reading).values() if isinstance(value, float)]
        assert not any(math.isnan(value) for value in numbers)
        assert not views.outside(name, reading.numbers), name


@pytest.mark.slow
@pytest.mark.parametrize("fault", [only_in_prove(name) for name in faults.catalogue()])
def test_every_fault_shows_in_a_view(fault: str, seen: Seen) -> None:
    """On the shortest program that it fits; where the run ends with an error, that is what everybody sees."""
    from bugzoo.grading.diagnosis import telling
    from bugzoo.scenario import plainest

    entry = faults.load(fault)
    if any(text.startswith("outcome") for text in entry.evidence) or entry.needs.cuda:
        pytest.skip("the run ends with an error, or needs a GPU")
    program = plainest(entry)
    readings = dict(seen(program, fault))
    scenario = Scenario(program, (fault,), size="tiny")
    for name in telling(entry):
        if views.reruns(name):
            readings |= measured([name], scenario.source, scenario.ranks)
    outside = {name: [row.label for row in views.outside(name, readings[name].numbers)] for name in readings}
    if entry.trap:
        assert not any(outside.values()), outside
    else:
        assert any(outside[name] for name in telling(entry)), outside


@pytest.mark.slow
def test_to_measure_a_view_loads_no_matplotlib() -> None:
    """It happens in a thread, while a cell may draw: of two imports at once, one sees half of the package."""
    names = ", ".join(f"bugzoo.views.{name}" for name in views.names())
    code = f"import sys, {names}; print('matplotlib' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout.strip() == "False"
