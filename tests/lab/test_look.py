"""A view in a notebook: the numbers of this kernel's run, printed, drawn and returned; what cannot be shown is told."""

from dataclasses import replace

import pytest
from IPython.display import Image

from bugzoo import Scenario, UserError, lab, views
from bugzoo.grading import looks
from bugzoo.running import Reading, Run
from bugzoo.views import show


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
    numbers = [line for line in rest if line.strip() not in (show.ALL_USUAL, show.OUTSIDE, show.REST)]
    assert len(numbers) == len(rows) and all(any(label in line for line in numbers) for label in rows)
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
    picture, numbers = pictures
    assert isinstance(picture, Image) and picture.data.startswith(b"\x89PNG"), "the picture comes first"
    assert set(numbers) == {"text/html", "text/plain"} and "<details><summary>the rest: " in numbers["text/html"]
    monkeypatch.setenv("BUGZOO_WIDGETS", "0")
    lab.look("weights", run)
    assert len(pictures) == 2, "text only without a front end"


def test_numbers_outside_their_usual_range_come_first_and_are_marked() -> None:
    row = next(row for row in views.rows("loss_curve") if row.range and 0 < row.range[1] < views.records.ANY)
    fact = next(row for row in views.rows("loss_curve") if row.usual is None)
    healthy, ill = Reading({row.source: 0.0, fact.source: 7.0}), Reading({row.source: 9.25, fact.source: 8.0})
    both = {"this run": ill, "healthy twin": healthy}
    assert show.body("loss_curve", both).splitlines()[1:] == [
        f"  {show.OUTSIDE}",
        f"  {row.label}       9.25!            0   usual: {row.usual_text()}",
        f"  {show.REST}",
        f"  {fact.label:{len(row.label)}}          8             7",
    ]
    assert show.body("loss_curve", {"this run": healthy, "healthy twin": ill}).count("!") == 1, "that of the twin"
    assert show.body("loss_curve", healthy).splitlines()[:3] == [
        f"  {show.ALL_USUAL}", f"  {show.REST}", f"  {row.label}          0   usual: {row.usual_text()}",
    ]  # fmt: skip
    page = show.html("loss_curve", both)
    marked, _, folded = page.partition("<details>")
    assert '<td class="number outside">9.25 !</td><td class="number">0</td>' in marked and "<details open" not in page
    assert row.label in marked and fact.label in folded and page.count(row.label) == page.count(fact.label) == 1
    assert f"<p>{show.ALL_USUAL}</p>" in show.html("loss_curve", healthy) and 'outside"' not in show.html(
        "loss_curve", healthy
    )


@pytest.mark.parametrize("name", ["loss_curve", "gradients", "outputs"])
def test_rows_with_a_usual_range_come_before_those_without(run, name: str) -> None:
    odd, rest = show.lines(name, {"": views.measure(run, [name])[name]})
    ranged = [bool(line.usual) for line in rest]
    assert ranged == sorted(ranged, reverse=True) and any(ranged) and not all(ranged)
    labels = [line.label for line in odd + rest]
    assert len(set(labels)) == len(labels) > 4


def test_a_run_beside_its_twin(run, measured, capsys: pytest.CaptureFixture) -> None:
    longer = Scenario("mlp", settings={"epochs": 2}).run()
    rows = lab.look("loss_curve", longer, beside=run)
    assert rows["optimizer steps"] == len(longer.trace.loss) and measured == ["loss_curve"] * 2
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split() == ["this", "run", "healthy", "twin"]
    [steps] = [line for line in printed if "optimizer steps" in line]
    assert steps.split()[-2:] == [str(len(longer.trace.loss)), str(len(run.trace.loss))]
    readings = {name: views.measure(part, ["loss_curve"])["loss_curve"] for name, part in (("a", longer), ("b", run))}
    figure = show.figure("loss_curve", readings)
    left, right = figure.axes
    assert left.get_ylim() == right.get_ylim() and left.get_xlim() == right.get_xlim(), "one scale"
    assert [panel.get_suptitle() for panel in figure.subfigs] == ["a", "b"]
    assert lab.look("loss_curve", longer, beside={"one epoch": run, "again": run}) == rows, "names of your own"
    assert capsys.readouterr().out.splitlines()[1].split() == ["this", "run", "one", "epoch", "again"]


def test_what_lies_beside_is_a_run(run, measured) -> None:
    for beside in (Scenario("mlp"), {"the rival": 3}, "twin"):
        with pytest.raises(UserError, match="takes a run, not an object of type"):
            lab.look("loss_curve", run, beside=beside)
    with pytest.raises(TypeError):
        lab.look("batch", run, 1, run)
    assert measured == []


def test_a_twin_without_the_view_says_why(run) -> None:
    reading = views.measure(run, ["loss_curve"])["loss_curve"]
    both = {"this run": reading, "healthy twin": Reading(why_not="it <crashed>")}
    assert "  healthy twin: nothing to see: it <crashed>" in show.body("loss_curve", both).splitlines()
    assert "<p>healthy twin: nothing to see: it &lt;crashed&gt;</p>" in show.html("loss_curve", both)
    assert (
        len(show.figure("loss_curve", both).axes) == 1
        and show.figure("loss_curve", {"a": both["healthy twin"]}) is None
    )


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
