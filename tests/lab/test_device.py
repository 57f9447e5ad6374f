"""A notebook's device reaches its cases, their twins and panels; and what is drawn and printed says where it ran.

There is no GPU here. A run's text names the device `meta`, on which this script keeps nothing but one tensor.
"""

from typing import Any

import pytest
import torch
from matplotlib.figure import Figure

from bugzoo import device, lab
from bugzoo.course.drawings import read_drawing
from bugzoo.lab import drawing_picture, healthy_twin, summary
from bugzoo.lab.drawing import Drawing

TEXT = """
import torch

device = "cpu"
probe = torch.zeros(2).to(device)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(80):
    optimizer.zero_grad()
    loss = model(torch.ones(4, 2)).square().mean() + 1e-3
    loss.backward()
    optimizer.step()
metrics = {"loss": loss.item()}
"""
META = device.on_device(TEXT, "meta")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_used", "cpu")
    monkeypatch.delenv("BUGZOO_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)


def test_a_case_its_twin_and_its_panel_are_on_the_device(gpu, front_end, capsys: pytest.CaptureFixture) -> None:
    before = lab.case("03/incident")
    assert 'device = "cpu"' in before.source, "a notebook without the line"
    assert lab.use("auto") == "cuda" and "notebook run on cuda" in capsys.readouterr().out
    case = lab.case("03/incident")
    assert (case.ticket, case.faults) == (before.ticket, before.faults)
    assert 'device = "cuda"' in case.source and 'device = "cuda"' in case.healthy().source
    twins = healthy_twin.case_of(case)
    assert (twins.source, twins.twin) == (case.source, case.healthy().source)
    assert twins.places == (", on cuda", ", on cuda") and healthy_twin.case_of(before).places == ("", "")
    panel = lab.break_it(case)
    panel.params[0]["step"].value += 1
    assert panel.scenario.device == "cuda" and 'device = "cuda"' in panel.view.next_case.source
    capsys.readouterr()
    assert lab.use("cpu") == "cpu" and capsys.readouterr().out == "", "on the CPU nothing is said"
    assert lab.case("03/incident").source == before.source


@pytest.mark.slow
def test_the_running_script_has_the_device_and_the_legend_says_so(front_end, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[Any] = []
    original = summary.picture
    monkeypatch.setattr(summary, "picture", lambda *a, **k: (names.append(k["names"]), original(*a, **k))[1])
    curve = lab.Curve(range(1, 81), [1.0] * 80, [1.0] * 80, {"loss": 1.0})
    view = lab.LiveView(META, healthy=curve, pace=0).show().start()
    assert view.result.outcome == "finished"
    assert view.objects["device"] == "meta" and view.objects["probe"].is_meta
    table = view._bundle()["text/plain"]
    assert "this run, on meta: finished" in table and "healthy, recorded on the CPU: finished" in table
    assert names[-1] == ("this run, on meta", "healthy, recorded on the CPU")
    legend = {trace.name for trace in view.widgets.chart.figure.data}
    assert {"this run, on meta", "healthy, recorded on the CPU"} <= legend
    view = lab.LiveView(TEXT, healthy=curve, pace=0).show().start()
    assert view.result.outcome == "finished" and "this run: finished" in view._bundle()["text/plain"]
    assert names[-1] == ("this run", "healthy"), "on a CPU nothing is said"
    assert {"this run", "healthy"} <= {trace.name for trace in view.widgets.chart.figure.data}


def test_a_twin_of_the_same_device_is_no_recorded_one(front_end) -> None:
    view = lab.LiveView(META, healthy=META, pace=0).start()
    assert view.result.outcome == "finished"
    assert view.case.places == (", on meta", ", on meta")
    assert healthy_twin.case_of(META, healthy=TEXT).places == (", on meta", ", on the CPU")
    assert healthy_twin.case_of(META).places[0] == ", on meta"


def test_a_view_says_where_it_was_measured(capsys: pytest.CaptureFixture) -> None:
    for text, expected in ((META, True), (TEXT, False)):
        lab.look("loss_curve", lab.LiveView(text).start().result)
        assert ("  measured on meta\n" in capsys.readouterr().out) is expected


def test_a_figure_of_a_lesson_has_the_device_below_it(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for used, expected in (("cuda", "on cuda\n"), ("cpu", "")):
        monkeypatch.setattr(device, "_used", used)
        lab.picture(Figure())
        assert capsys.readouterr().out == expected


def test_a_curve_laid_over_a_drawn_one_says_where_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[Any] = []
    original = drawing_picture.figure
    monkeypatch.setattr(drawing_picture, "figure", lambda *a: (names.append(list(a[2])), original(*a))[1])
    question = read_drawing("Draw.\n\nstep: 1, 2, 3\nloss: 0 to 1", "here")
    for used, name in (("cuda", "healthy, on cuda"), ("cpu", "healthy")):
        monkeypatch.setattr(device, "_used", used)
        Drawing(question).reveal([1, 2, 3], [0.5, 0.2, 0.1], "healthy")
        assert names[-1] == [name]
