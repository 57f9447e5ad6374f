"""A view in a notebook: the numbers of this kernel's run, printed, drawn and returned; what cannot be shown is told."""

from dataclasses import replace

import pytest
from IPython.display import Image

from bugzoo import Scenario, UserError, lab, views
from bugzoo.grading import looks
from bugzoo.running import Run


@pytest.fixture(scope="module")
def run() -> Run:
    """A small run of this process, with its live objects."""
    return Scenario("mlp", settings={"epochs": 1}).run()


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the views that were measured, as real ones."""
    names: list[str] = []
    real = views.measure

    def counted(run: Run, asked: list[str], **how):
        names.extend(asked)
        return real(run, asked, **how)

    monkeypatch.setattr(views, "measure", counted)
    return names


def test_the_view_asked_for_is_printed_and_returned(run, measured, capsys: pytest.CaptureFixture) -> None:
    rows = lab.look("weights", run)
    assert measured == ["weights"], "and no other one"
    assert rows["parameter tensors"] == len(list(run.namespace["model"].parameters()))
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"weights: {views.question('weights')}"
    assert len(rest) == len(rows) and all(any(label in line for line in rest) for label in rows)
    assert lab.look("loss_curve", run)["optimizer steps"] == len(run.trace.loss)


def test_a_step_of_the_batch_view(run, capsys: pytest.CaptureFixture) -> None:
    assert lab.look("batch", run, step=1)["optimizer step of the batch shown"] == 1
    assert lab.look("batch", run, step=10_000) == {}
    assert "nothing to see" in capsys.readouterr().out, "a step that the run does not have"


@pytest.mark.slow
def test_its_picture_is_shown_if_there_is_a_front_end(run, front_end, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures: list = []
    monkeypatch.setattr(lab, "kernel", lambda: "one")
    monkeypatch.setattr("IPython.display.display", lambda *what, **_: pictures.extend(what))
    lab.look("weights", run)
    [picture] = pictures
    assert isinstance(picture, Image) and picture.data.startswith(b"\x89PNG")
    monkeypatch.setenv("BUGZOO_WIDGETS", "0")
    lab.look("weights", run)
    assert pictures == [picture], "text only without a front end"


@pytest.mark.parametrize("name", ["weigths", "", "parameter_audit", None, 3])
def test_an_unknown_view_is_told_with_all_that_there_are(run, measured, name) -> None:
    with pytest.raises(UserError) as error:
        lab.look(name, run)
    assert str(error.value).startswith(f"There is no view named {name!r}.") and measured == []
    assert all(view in str(error.value) for view in views.names())
    assert ("Did you mean `lab.look('weights', run)`?" in str(error.value)) is (name == "weigths")


def test_what_is_not_a_run_is_told(measured) -> None:
    view = lab.LiveView(Scenario("mlp"), pace=0, show_twin=False)
    with pytest.raises(UserError, match=r"takes a run, not an object of type LiveView\. Pass its `\.result`"):
        lab.look("weights", view)
    with pytest.raises(UserError, match=r"not an object of type Scenario\. Make one with `run = scenario\.run\(\)`"):
        lab.look("weights", Scenario("mlp"))
    assert measured == [] and view._engine is None, "nothing was started"


@pytest.mark.parametrize(
    ("name", "step", "said"),
    [
        (
            "weights",
            5,
            r"The view 'weights' takes no step\. Only lab\.look\('batch', run, step=\.\.\.\) shows one step",
        ),
        ("batch", 0, r"step=0 is not an optimizer step\. Steps are whole numbers from 1"),
        ("batch", True, "step=True is not"),
        ("batch", 1.5, r"step=1\.5 is not"),
        ("batch", "50", "step='50' is not"),
    ],
)
def test_a_step_without_a_meaning_is_told(run, measured, name, step, said) -> None:
    with pytest.raises(UserError, match=said):
        lab.look(name, run, step)
    assert measured == []


def test_a_run_that_lost_its_objects_shows_what_is_left(run, capsys: pytest.CaptureFixture) -> None:
    rows = lab.look("loss_curve", replace(run, namespace={}))
    assert rows["optimizer steps"] == len(run.trace.loss) and "loss_curve:" in capsys.readouterr().out


def test_an_exercise_shows_a_view_in_the_same_words(run, capsys: pytest.CaptureFixture) -> None:
    reading = views.measure(run, ["loss_curve"])["loss_curve"]
    assert looks.show("loss_curve", reading) == lab.look("loss_curve", run)
    half = capsys.readouterr().out.splitlines()
    assert half[: len(half) // 2] == half[len(half) // 2 :]
