"""A drawn prediction: sliders move the line, a button saves it, the result is laid over it and locks it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bugzoo import UserError, course, lab, record
from bugzoo.lab import drawing_picture
from bugzoo.lab.drawing_widgets import DRAGGED, HEIGHT
from bugzoo.plots import GUESS, HEALTHY, SERIES
from tests.lab.test_widgets import updates

SMALL = """
# %% [markdown] title
# # 07 · Small

# %% [draw] one_batch
# Draw the loss on this *one* batch over 200 steps.
#
# step: 1, 60, 200
# loss (nats): 0.0001 to 1, log

# %% [draw] seconds
# Draw the share of rows.
#
# time (s): 0.5, 1, 1.5
# share: -1 to 1

# %% [draw] five
# Draw the loss.
#
# step: 1, 10, 50, 100, 2000
# loss (nats): 0 to 3
"""
STEPS = np.array([1, 60, 200])
KEPT = {"said": [0.7, 0.1, 0.01], "at": [1.0, 60.0, 200.0], "revealed": False}


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "07_small.py").write_text(SMALL)
    monkeypatch.setattr(course, "PLACE", tmp_path)


def test_as_text_saved_and_restored(capsys: pytest.CaptureFixture) -> None:
    drawing = lab.draw("07/one_batch")
    assert capsys.readouterr().out.splitlines() == [
        "Draw the loss on this one batch over 200 steps.",
        "  loss (nats) at step 1, 60 and 200, from 0.0001 to 1",
        "  call say(0.01, 0.01, 0.01), with your three values, before you run the cell with the result",
    ]
    assert drawing.say(0.7, "0,1", "1e-2") == "Saved: 0.7, 0.1, 0.01. The cell with the result comes back to it."
    assert record.kept("drawing", "07/one_batch") == KEPT
    again = lab.draw("07/one_batch")
    assert again.said == (0.7, 0.1, 0.01) and not again.revealed, "a new kernel knows it"
    assert again.say(0.5, 0.5, 0.5).startswith("Saved"), "before the result it may change"


def test_five_points_as_text(capsys: pytest.CaptureFixture) -> None:
    drawing = lab.draw("07/five")
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  loss (nats) at step 1, 10, 50, 100 and 2,000, from 0 to 3",
        "  call say(1.5, 1.5, 1.5, 1.5, 1.5), with your five values, before you run the cell with the result",
    ]
    with pytest.raises(UserError, match=r"A guess has 5 values, at step 1, 10, 50, 100 and 2,000; you gave 3"):
        drawing.say(3, 2, 1)
    assert drawing.say(3, 2, 1, 0.5, 0) == "Saved: 3, 2, 1, 0.5, 0. The cell with the result comes back to it."
    assert lab.draw("07/five").said == (3, 2, 1, 0.5, 0)
    capsys.readouterr()
    drawing.reveal([1, 100], [3, 1])
    assert capsys.readouterr().out == "At step 50 you drew 1; it was 2.01.\n"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.7, 0.1), "A guess has 3 values, at step 1, 60 and 200; you gave 2"),
        ((0.7, 0.1, "small"), "'small' is not a number"),
        ((0.7, 0.1, 2), "goes from 0.0001 to 1 here, and 2 is outside"),
        ((0, 0.1, 0.2), "and 0 is outside"),
        ((0.7, float("nan"), 0.2), "'nan' is not a number"),
    ],
)
def test_a_guess_that_is_none_is_told_and_not_saved(values, said) -> None:
    drawing = lab.draw("07/one_batch")
    with pytest.raises(UserError, match=said):
        drawing.say(*values)
    assert drawing.said == () and record.kept("drawing", "07/one_batch") is None


def test_it_is_revealed_in_one_sentence_and_locked(capsys: pytest.CaptureFixture) -> None:
    drawing = lab.draw("07/one_batch")
    drawing.say(0.7, 0.2, 0.01)
    capsys.readouterr()
    drawing.reveal(STEPS, torch.tensor([0.69, 0.0041, 1e-6]), "the healthy model")
    assert capsys.readouterr().out == "At step 60 you drew 0.2; it was 0.0041.\n"
    drawing.reveal({"an old optimizer": (STEPS, [0.69, 0.68, 0.7]), "half": ([1, 50, 70], [0.6, 0.4, 0.2])})
    assert capsys.readouterr().out == (
        "At step 60 you drew 0.2; it was 0.0041 (the healthy model), 0.68 (an old optimizer) and 0.3 (half).\n"
    )
    drawing.reveal(STEPS, [0.69, 0.5, 0.4], "half")
    assert "0.5 (half)" in capsys.readouterr().out and len(drawing.curves) == 3, "the cell once more"
    assert "stays" in drawing.say(0.1, 0.1, 0.1) and drawing.said == (0.7, 0.2, 0.01)
    again = lab.draw("07/one_batch")
    assert again.revealed and "stays" in again.say(0.1, 0.1, 0.1), "a new kernel does not unlock it"
    assert record.kept("drawing", "07/one_batch")["said"] == [0.7, 0.2, 0.01]


def test_without_a_guess_the_curve_is_shown_all_the_same(capsys: pytest.CaptureFixture) -> None:
    drawing = lab.draw("07/one_batch")
    capsys.readouterr()
    drawing.reveal(STEPS, [0.69, 0.004, 0.001])
    assert capsys.readouterr().out == "You drew nothing before the run. At step 60 it was 0.004.\n"
    assert "already seen" in drawing.say(0.5, 0.5, 0.5)
    assert lab.draw("07/one_batch").say(0.5, 0.5, 0.5).startswith("Saved"), "the cell once more: for the next run"


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1, 60, 200], [0.7, float("nan"), float("nan")], "it was nan."),
        ([1, 20], [0.7, 0.6], "it was not measured there."),
        ([], [], "it was not measured there."),
        ([200, 60, 1], [3, 2, 1], "it was 2."),
        ([50, 70], [0.0, float("inf")], "it was inf."),
    ],
)
def test_a_run_that_ends_early_or_is_lost(x, y, said, capsys: pytest.CaptureFixture) -> None:
    drawing = lab.draw("07/one_batch")
    drawing.say(0.7, 0.1, 0.01)
    drawing.reveal(x, y)
    assert capsys.readouterr().out.endswith(f"At step 60 you drew 0.1; {said}\n")
    drawing_picture.figure(drawing.asked, drawing.said, drawing.curves, {}).canvas.draw()


def test_a_curve_that_is_none_is_told_and_locks_nothing() -> None:
    drawing = lab.draw("07/one_batch")
    for x, y, message in (
        (STEPS, [1, 2], "has 3 x-values and 2 y-values"),
        (STEPS, None, "as many"),
        ("ab", "cd", "not numbers"),
    ):
        with pytest.raises(UserError, match=message):
            drawing.reveal(x, y)
    with pytest.raises(UserError, match="not numbers"):
        drawing.reveal({"a": 3})
    assert not drawing.revealed and drawing.curves == {}


def test_an_older_record_that_does_not_fit_is_left_out() -> None:
    for entry in (
        KEPT | {"at": [1.0, 50.0, 200.0]}, KEPT | {"said": [0.7, 0.1, 7.0]}, KEPT | {"said": [0.7]}, KEPT | {"said": "abc"},
        KEPT | {"said": None}, {"said": [0.7, 0.1, 0.01]}, {},
    ):  # fmt: skip
        record.keep("drawing", "07/one_batch", entry)
        assert lab.draw("07/one_batch").said == (), entry


def test_sliders_move_the_line_and_a_button_saves_it(front_end) -> None:
    drawing = lab.draw("07/one_batch")
    face = drawing.face
    assert [control.description for control in face.sliders] == ["1", "60", "200"]
    assert any("loss (nats) at step" in getattr(row, "value", "") for row in face.box.children)
    assert face.figure._sliders == face.sliders, "front/drag.js moves them"
    line, layout = face.figure.data[0], face.figure.layout
    assert list(line.x) == [1, 60, 200] and list(line.y) == [0.01] * 3, "flat in the middle: it suggests nothing"
    assert (layout.xaxis.title.text, layout.yaxis.title.text) == ("step", "loss (nats)")
    assert (layout.xaxis.type, layout.yaxis.type) == ("linear", "log") and layout.height == HEIGHT
    front_end.clear()
    face.sliders[1].value = 0.2
    assert line.y[1] == 0.2 and updates(front_end)[-1]["style_data"] == {"y": [[0.01, 0.2, 0.01]]}, (
        "redrawn as it moves"
    )
    assert drawing.said == () and record.kept("drawing", "07/one_batch") is None, "only the button saves"
    face.sliders[0].value = 5
    assert line.y[0] == 1, "no further than the axis"
    face.button.click()
    assert drawing.said == (1, 0.2, 0.01) and "Saved: 1, 0.2, 0.01." in face.told.value
    again = lab.draw("07/one_batch")
    assert [control.value for control in again.face.sliders] == pytest.approx([1, 0.2, 0.01])
    assert "what you drew before" in again.face.told.value and not again.face.button.disabled
    again.face.sliders[1].value = 0.9
    again.reveal(STEPS, [0.7, 0.1, 0.01])
    assert again.face.sliders[1].value == 0.2 and again.face.figure.data[0].y[1] == 0.2, "what was not saved goes back"
    assert all(control.disabled for control in (*again.face.sliders, again.face.button))
    assert DRAGGED in face.box._dom_classes and DRAGGED not in again.face.box._dom_classes
    assert all(control.disabled for control in lab.draw("07/one_batch").face.sliders), "and after a restart"


def test_a_press_carries_what_was_moved_in_the_blink_before_it(front_end) -> None:
    drawing = lab.draw("07/one_batch")
    drawing.face.carried.box.value = '{"at0": 0.6912, "at1": 0.05, "at2": 9}'
    drawing.face.button.click()
    assert drawing.said == (0.691, 0.05, 1)
    assert [slider.value for slider in drawing.face.sliders] == [0.691, 0.05, 1], (
        "a number typed beside a slider moves it"
    )
    assert list(drawing.face.figure.data[0].y) == [0.691, 0.05, 1], "and the line"
    drawing.face.carried.box.value = '{"at0": null, "at1": 0.05, "at2": 0.05}'  # a readout that is no number
    drawing.face.button.click()
    assert drawing.said == (0.691, 0.05, 0.05), "its slider counts"


def test_a_linear_axis_with_units(front_end) -> None:
    drawing = lab.draw("07/seconds")
    face = drawing.face
    assert [slider.description for slider in face.sliders] == ["0.5 s", "1 s", "1.5 s"]
    assert [slider.value for slider in face.sliders] == [0, 0, 0] and face.figure.layout.yaxis.type == "linear"
    face.sliders[0].value = -0.5
    face.button.click()
    drawing.reveal([0.5, 1, 1.5], [0, -0.25, 1])
    assert drawing.told() == "At time 1 s you drew 0; it was -0.25."


def test_a_plot_that_comes_late_is_sent_the_line(front_end) -> None:
    drawing = lab.draw("07/one_batch")
    drawing.face.sliders[2].value = 0.05
    front_end.clear()
    drawing.face.figure._handle_custom_msg({"ready": True}, [])
    (sent,) = updates(front_end)
    assert sent["style_data"]["y"] == [[0.01, 0.01, 0.05]], "with its points"


def test_the_picture_has_both_axes_and_every_curve() -> None:
    question = lab.draw("07/one_batch").asked
    curves = {"healthy": (STEPS, np.array([0.7, 0.01, 1e-6])), "old": (STEPS, np.array([3.0, 0.0, np.nan]))}
    figure = drawing_picture.figure(question, (0.7, 0.1, 0.01), curves, {"ln 2": 0.69})
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("step", "loss (nats)", "log")
    assert {artist.get_text(): artist.get_color() for artist in ax.texts} == {
        "you drew": GUESS, "healthy": HEALTHY, "old": SERIES[0], "ln 2": GUESS,
    }  # fmt: skip
    low, high = ax.get_ylim()
    assert low < 1e-6 and high > 3, "a curve that leaves the axis is seen"
    assert len({str(artist._dash_pattern) for artist in ax.lines}) == 4, "readable without color vision"
    assert figure.patch.get_alpha() == 0 and 110 * figure.get_figheight() <= 420
    bare = drawing_picture.figure(question, (), curves, {}).axes[0]
    assert [artist.get_text() for artist in bare.texts] == ["healthy", "old"]


def test_a_value_to_compare_with_is_drawn_and_stays() -> None:
    drawing = lab.draw("07/one_batch")
    drawing.reveal(STEPS, [0.69, 0.5, 0.4], reference={"ln 2": 0.693})
    drawing.reveal(STEPS, [0.69, 0.1, 0.1], "twin", {"a tenth": 0.07})
    assert drawing.reference == {"ln 2": 0.693, "a tenth": 0.07}
    for values, reason in (
        ({"zero": 0}, "'zero' is 0, which has no place"),
        ({"a": "b"}, "not a number"),
        ([0.7], "name -> value"),
    ):
        with pytest.raises(UserError, match=reason):
            lab.draw("07/one_batch").reveal(STEPS, [0.69, 0.5, 0.4], reference=values)


def test_an_unknown_drawing(capsys) -> None:
    lab.draw("07/one_bach").reveal([1], [2])  # an earlier version may have asked it: the notebook goes on
    assert "no drawing named '07/one_bach'. Did you mean 07/one_batch" in capsys.readouterr().out
