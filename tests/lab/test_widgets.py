"""What the widgets do when they are pressed, moved and left alone."""

import math
import re
import time
from types import SimpleNamespace

import ipywidgets as w
import pytest

from bugzoo import Scenario, UserError, choices, lab, plots, record
from bugzoo.lab import chart, form_face, page, sliders, summary

BROKEN = Scenario("mlp", ("numerics/log_at_step?step=50&eps=0",))


def until(condition, seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_buttons_work_while_it_runs(front_end) -> None:
    view = lab.LiveView(BROKEN, pace=100, show_twin=False).show()
    face = view.widgets
    assert face.stop.disabled and face.pause.disabled and not face.run.disabled
    face.run.click()
    while len(view.points) < 10:
        time.sleep(0.01)
    assert face.run.disabled
    face.pause.click()
    assert view.wait_pause()
    assert until(lambda: face.pause.description == "Resume" and "paused" in face.status.value)
    face.pause.click()
    here = len(view.points)
    while len(view.points) < here + 5:
        time.sleep(0.01)
    face.stop.click()
    assert view.result.outcome == "stopped"
    assert until(lambda: "stopped after" in face.status.value and not face.run.disabled)


@pytest.mark.serial
def test_at_most_ten_updates_a_second(front_end) -> None:
    view = lab.LiveView(BROKEN, pace=100, show_twin=False).show()
    front_end.clear()
    begin = time.monotonic()
    view.start()
    view.wait()
    seconds = time.monotonic() - begin
    assert 5 < len(updates(front_end)) <= 10 * seconds + 6
    assert len(front_end) < 1000, "a server drops messages beyond 1,000 a second over 3 s"
    # one drawing of a curve pair and one status line at each tick; a few more for the mark and the end
    assert len(front_end) <= 12 * (10 * seconds + 6)


def test_first_bad_step_is_marked_and_thinning_keeps_the_last_point() -> None:
    nan = float("nan")
    points = [(1, 2.0, 1.0), (2, 1.5, nan), (3, nan, nan)]
    assert summary.first_bad(points) == (2, "the gradient is nan, the loss still 1.50")
    assert summary.first_bad(points[:1]) is None
    nan = float("nan")
    unmeasured = [(1, 2.0, nan), (2, 1.9, nan)]
    assert summary.first_bad(unmeasured) is None, "the optimizer got no gradient: nothing is broken off"
    assert summary.first_bad([*unmeasured, (3, nan, nan)]) == (3, "the loss is nan")
    assert "gradient norm not measured" in summary.last_number(unmeasured)
    assert "gradient norm nan" in summary.last_number(points)
    rows = chart.thinned(5000)
    assert len(rows) <= chart.MOST + 1 and rows[0] == 0 and rows[-1] == 4999 and len(set(rows)) == len(rows)
    assert len(chart.thinned(0)) == 0 and chart.thinned(1).tolist() == [0]
    assert "<- first non-finite" in summary.text_table(points, None)


@pytest.mark.slow
def test_panel_moves_parameters_and_settings(front_end) -> None:
    panel = lab.break_it(BROKEN, ranges={"step": (0, 250)}, pace=0)
    step, eps = panel.params[0]["step"], panel.params[0]["eps"]
    assert (step.min, step.max, step.value) == (0, 250, 50)
    assert eps.value == 0 and 1e-9 in [value for _, value in eps.options]
    assert panel.answer.value == "", "the diff is hidden until somebody asks"
    eps.value, step.value, panel.settings["seed"].value = 1e-9, 30, 3
    panel.twin_toggle.value = False
    panel.view.widgets.run.click()
    run = panel.result
    assert (
        run.outcome == "finished"
        and "+ 1e-09" in run.source
        and "step >= 30" in run.source
        and "seed = 3" in run.source
    )
    panel.diff_button.value = True
    assert "torch.log" in panel.answer.value
    panel.diff_button.value = False
    assert panel.answer.value == ""
    with pytest.raises(UserError, match="has no setting"):
        lab.Panel(BROKEN, settings=("learning_rat",))


@pytest.mark.parametrize(
    ("low", "high", "default", "some"), [(0.0, 1.0, 0.0, 1e-9), (1e-5, 1.0, 1e-3, 1e-4), (0.5, 200.0, 3.0, 10.0)]
)
def test_sliders_of_wide_ranges_move_in_decades(low, high, default, some) -> None:
    values = sliders.decades(low, high, default)
    assert default in values and some in values and values == sorted(values)
    assert all(low <= value <= high for value in values)


def test_quick_check_chooses_nothing_and_keeps_the_result(front_end) -> None:
    check = lab.quick_check("03/finite_loss")
    assert check.choice.value is None and check.told.value == "" and not check.solved
    check.choice.value = "a"
    assert "Not quite" in check.told.value and not check.solved
    check.choice.value = "b"
    assert "Right" in check.told.value and check.solved
    assert record.kept("quick check", "03/finite_loss") == {"tries": ["a", "b"], "solved": True}
    with pytest.raises(UserError, match="The answers are a, b, c"):
        check.answer("z")


def test_quick_check_as_text(capsys) -> None:
    check = lab.quick_check("03/guess")
    assert "  c) Nothing at all" in capsys.readouterr().out
    assert check.answer("C").startswith("Right")
    lab.quick_check("03/gues").answer("a")  # an earlier version may have asked it: the notebook goes on
    assert "Did you mean 03/guess" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["cause", "test"])
def test_a_quiz_on_a_scenario_draws_from_what_looks_like_it(front_end, what) -> None:
    fault, params = BROKEN.specs[0]
    offer = {"cause": choices.causes(fault, params, BROKEN.ticket), "test": choices.choices(fault, BROKEN.ticket)}[what]
    quiz = lab.quiz(BROKEN, what)
    assert [label[3:] for label, _ in quiz.choice.options] == list(offer.texts)
    for letter in "abcd":
        reply = quiz.answer(letter)
        assert reply.startswith("Right") == (letter == offer.letter.lower())
        assert "log_at_step" not in reply and "`" not in reply, "neither the fault's name nor an instrument's claim"
    assert record.kept("quick check", f"{BROKEN.ticket}/{what}")["solved"]


def test_a_quiz_on_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="This scenario has no fault"):
        lab.quiz(BROKEN.healthy())
    with pytest.raises(UserError, match="cause"):
        lab.quiz(BROKEN, "coz")


def test_hints_come_one_at_a_time_and_are_counted(front_end) -> None:
    hints = lab.hints(BROKEN)
    assert hints.cost == 0 and hints.shown.value == ""
    for cost in (1, 3, 6):
        hints.button.click()
        assert hints.cost == cost
    assert hints.button.disabled and hints.next() == "There are no more hints."
    assert record.kept("hints", BROKEN.ticket)["cost"] == 6
    assert "log_at_step" not in repr(hints)


def test_the_lines_of_a_form_begin_at_the_first_statement(front_end) -> None:
    text = '"""About.\n\nbayes = 0.96\n"""\n\nimport torch\nx = 1\n'
    form = lab.DiagnosisForm("Z-018", causes=CAUSES, tests=TESTS, source=text).show()
    assert form.face.place.options == (("   -  no line", None), ("   6  import torch", 6), ("   7  x = 1", 7))
    assert form_face.line_picker(text, 2).value is None and form_face.line_picker(text, 7).value == 7


CAUSES = ("a function outside its domain, such as log or sqrt", "a wrong learning rate", "nothing is wrong")
TESTS = ("replay of the first bad step", "half the learning rate")


def test_diagnosis_form_gives_a_record(front_end) -> None:
    hints = lab.Hints(("a", "b", "c"))
    hints.next()
    record.note("Z-017", "looked", {"view": "loss_curve"})
    record.note("Z-017", "looked", {"view": "replay"})
    form = lab.DiagnosisForm("Z-017", causes=CAUSES, tests=TESTS, source="a = 1\n\nb = 2\n", hints=hints).show()
    face = form.face
    assert face.cause.value is None and face.test.value is None and face.step.value == "" and face.place.value is None
    assert [label for label, _ in face.place.options] == ["   -  no line", "   1  a = 1", "   2  ", "   3  b = 2"]
    face.button.click()
    assert not form.handed_in and "Choose what is wrong" in face.told.value
    face.cause.value, face.step.value = CAUSES[0], "soon"
    face.button.click()
    assert not form.handed_in and "a whole number of at least 1" in face.told.value and "soon" in face.told.value
    face.step.value = "51"
    face.button.click()
    assert form.handed_in and "Saved in your record, without a line and a test." in face.told.value
    face.place.value, face.test.value = 3, "A"
    face.button.click()
    message = face.told.value
    assert (
        "Saved in your record." in message and "opened 1 hint" in message and "looked at: loss_curve, replay" in message
    )
    entry = form.diagnosis.record()
    assert form.handed_in and form.lacks() == []
    assert {name: entry[name] for name in ("ticket", "place", "step", "evidence", "hints", "test")} == {
        "ticket": "Z-017", "place": 3, "step": 51, "evidence": ["loss_curve", "replay"], "hints": 1, "test": "A",
    }  # fmt: skip

    # the kernel is started again: the form goes on with what was handed in, and says so
    again = lab.DiagnosisForm("Z-017", causes=CAUSES, tests=TESTS, source="a = 1\n\nb = 2\n").show()
    assert again.handed_in and again.diagnosis == form.diagnosis
    assert (again.face.cause.value, again.face.place.value, again.face.step.value) == (CAUSES[0], 3, "51")
    assert again.face.test.value == "A" and "This is what was handed in" in again.face.told.value
    assert not lab.DiagnosisForm("Z-018").handed_in


def test_a_press_carries_what_was_chosen_in_the_blink_before_it(front_end) -> None:
    form = lab.DiagnosisForm("Z-021", causes=CAUSES, tests=TESTS, source="a = 1\nb = 2\n").show()
    form.face.cause.value, form.face.step.value = CAUSES[0], "5"  # what the kernel has heard so far
    form.face.carried.box.value = '{"cause": 1, "place": 2, "step": "51", "test": -1}'
    form.face.button.click()
    diagnosis = form.diagnosis
    assert (diagnosis.cause, diagnosis.place, diagnosis.step, diagnosis.test) == (CAUSES[1], 2, 51, "")
    form.face.button.click()  # of a page that carries nothing: the controls' own values
    assert (form.diagnosis.cause, form.diagnosis.step) == (CAUSES[0], 5)


def test_a_page_with_the_script_presses_and_carries_in_one_message(front_end) -> None:
    """The button's message and the controls' may come in two threads of the kernel, in either order."""
    pressed: list = []
    field, button = w.Text(value="0"), w.Button()
    carried = page.Carried(button, number=field)
    button.on_click(lambda _: pressed.append(carried.values()["number"]))
    carried.box.set_state({"value": '{"number": "0,7", "press": "1 1"}'})
    assert pressed == ["0,7"] and carried.box.value == "", "without a message of the button"
    carried.box.set_state({"value": '{"number": "0,7", "press": "1 2"}'})
    assert pressed == ["0,7", "0,7"], "the same values once more"
    for odd in ('{"number": "0,7"}', "[1]", "press", "{"):
        carried.box.set_state({"value": odd})
    assert len(pressed) == 2, "nothing was pressed"
    carried.box.value = ""
    button.click()
    assert pressed[2] == "0", "a front end without the script: what the kernel has heard"


def test_what_was_expected_and_what_was_seen_each_have_their_reason_below_them(front_end) -> None:
    prediction = lab.predict("03/guess")
    prediction.say("a")
    lines = prediction._told("")
    assert [line[:8] for line in lines] == ["**You sa", "That is ", "**It was", "No numbe"], lines
    prediction.said = "c"
    assert len(prediction._told("")) == 3


def test_what_was_looked_at_is_ticked_where_nothing_notes_it(front_end) -> None:
    form = lab.diagnose("Z-020", causes=CAUSES)
    boxes = {box.description: box for box in form.face.seen}
    for name in ("layers", "loss_curve", "gradients"):
        boxes[name].value = True
    boxes["loss_curve"].value = False
    form.face.cause.value, form.face.place.value = CAUSES[0], "56"
    form.face.button.click()
    assert form.diagnosis.evidence == ["layers", "gradients"] and form.diagnosis.place == 56
    assert lab.DiagnosisForm("Z-020").hand_in(cause="a wrong learning rate").evidence == ["layers", "gradients"]


def test_what_stays_in_the_saved_notebook(front_end, monkeypatch) -> None:
    bundles = []
    monkeypatch.setattr(page, "put", lambda box: SimpleNamespace(update=lambda data, raw: bundles.append(data)))
    form = lab.DiagnosisForm("Z-021", causes=CAUSES).show()
    assert "nothing handed in yet" in bundles[-1]["text/plain"]
    form.face.cause.value = "a wrong learning rate"
    form.face.button.click()
    assert "cause: a wrong learning rate" in bundles[-1]["text/plain"] and "Run this cell" in bundles[-1]["text/html"]


def updates(sent: list) -> list[dict]:
    """Plotly's messages with curves among all that was sent."""
    return [update for _, data in sent if (update := ((data or {}).get("state") or {}).get("_py2js_update"))]


def test_a_view_that_comes_late_is_sent_everything(front_end) -> None:
    plot = chart.Chart()
    axes = [plot.figure.layout[name] for name in ("xaxis", "yaxis", "yaxis2")]
    assert all(axis.autorange and axis.range for axis in axes), (
        "numbers on an empty sheet, which fit points without a word"
    )
    plot.clear()
    assert updates(front_end)[-1]["layout_data"]["xaxis.autorange"], "who looked closer sees the next run whole"
    plot.figure._handle_custom_msg({"ready": True}, [])
    assert updates(front_end)[-1]["layout_data"]["xaxis.autorange"], "the points that come will be seen whole"
    plot.draw("healthy", [(1, 2.0, 1.0), (2, 1.0, 1.0), (3, 0.5, 0.0)])
    plot.draw("broken", [(1, 2.0, 1.0), (2, float("nan"), 1.0)])
    plot.point_at((2, "the loss is nan"))
    plot.validate("broken", [[(1, 1.5), (2, 1.2)], [(2, 900.0)]])
    front_end.clear()
    plot.figure._handle_custom_msg({"ready": True}, [])
    (sent,) = updates(front_end)
    *runs, healthy, broken = sent["style_data"]["x"]
    assert [x["shape"] for x in runs] == [(3,), (3,), (2,), (2,)] * 2
    assert (list(healthy), list(broken)) == ([], [1, 2, None]), "an evaluation on another scale is left out"
    assert sent["style_data"]["showlegend"][-2:] == [False, True]
    line, band = sent["layout_data"]["shapes"]
    assert line["x0"] == line["x1"] == 2 and (band["x0"], band["x1"]) == (1.5, 2.5), "there is no loss in step 2"
    assert sent["layout_data"]["xaxis.autorange"]
    assert plot.count("broken") == 2

    # at the end of a run the same, but whoever looks closer goes on looking there
    front_end.clear()
    plot.all_again()
    (sent,) = updates(front_end)
    assert len(sent["style_data"]["y"]) == 10 and "xaxis.autorange" not in sent["layout_data"]
    plot.clear()
    assert plot.count("broken") == 0 and plot.mark == {}


def test_both_runs_are_smoothed_alike_and_the_axis_says_so(front_end) -> None:
    plot, noisy = chart.Chart(), [(step, 2.0 + step % 2, 1.0) for step in range(1, 241)]
    plot.draw("healthy", noisy)
    plot.draw("broken", noisy[:3])
    curves = [curve for curve in plot.figure.data if curve.showlegend]
    assert [curve.name for curve in curves] == ["healthy", "this run"]
    assert plot.figure.layout.xaxis.title.text == "optimizer step (bold: mean of the last 10 steps)"
    faint, mean = plot.figure.data[:2]
    assert set(faint.y) == {2.0, 3.0} and max(mean.y[10:]) - min(mean.y[10:]) < 0.2, "the noise, and its middle"
    assert plot.figure.data[0].opacity < 0.5 and {c.line.width for c in curves} == {2}, "the twin is no thicker"
    plot.clear()
    plot.draw("broken", noisy[:20])
    assert plot.figure.layout.xaxis.title.text == "optimizer step", "twenty steps are drawn as they are"


def test_events_stand_above_the_frame_and_a_reference_value_on_its_line(front_end) -> None:
    plot = chart.Chart(reference={"ln 10": math.log(10)})
    layout = plot.figure.layout
    (line,), (name,) = layout.shapes, layout.annotations
    assert (line.y0, line.y1, line.yref) == (math.log(10), math.log(10), "y") and line.line.dash == "dash"
    assert (name.text, name.y, name.x, name.xanchor) == ("ln 10", math.log10(math.log(10)), 1, "left"), (
        "a logarithmic axis"
    )
    top = layout.margin.t
    plot.draw("broken", [(step, 2.0, 1.0) for step in range(1, 11)])
    plot.add_mark(2, "the alarm")
    plot.add_mark(9, "repaired")
    events = [(note.x, note.y, note.yanchor, note.xanchor, note.yshift) for note in layout.annotations[:2]]
    assert events == [(2, 1, "bottom", "left", 0), (9, 1, "bottom", "right", chart.ROW)], "one above the other"
    assert layout.margin.t == top + 2 * chart.ROW and layout.legend.yref == "container", "the legend stands over them"
    front_end.clear()
    plot.all_again()
    assert updates(front_end)[-1]["layout_data"]["margin.t"] == layout.margin.t
    plot.clear()
    assert [note.text for note in layout.annotations] == ["ln 10"] and layout.margin.t == top


@pytest.mark.parametrize(
    ("values", "reason"),
    [({"ln 1": 0.0}, "'ln 1' is 0, which has no place"), ({"a": "b"}, "is 'b', not a number"), (2.3, "not name")],
)
def test_a_reference_value_that_has_no_place_is_refused(values, reason) -> None:
    with pytest.raises(UserError, match=reason):
        lab.LiveView(BROKEN, reference=values)


def test_the_live_plot_has_the_colors_of_the_palette(front_end) -> None:
    plot = chart.Chart()
    plot.draw("broken", [(1, 2.0, 1.0), (2, float("nan"), 1.0)])
    colors = set(re.findall(r"#[0-9a-fA-F]{6}", plot.figure.to_json()))
    assert colors == {plots.HEALTHY, plots.THIS_RUN}


@pytest.mark.slow
def test_a_view_waits_to_be_seen_and_for_no_cell(front_end) -> None:
    view = lab.live(BROKEN, pace=0, show_twin=False)
    assert "starts when you scroll here" in view.widgets.status.value
    assert "ready" in repr(view) and view._engine is None, "the last line of a cell starts nothing"
    view.widgets.chart.figure._handle_custom_msg({"seen": True}, [])
    assert view._engine is not None
    assert view.result.outcome == "non_finite"
    first = view.result
    view.widgets.chart.figure._handle_custom_msg({"seen": True}, [])
    assert view.result is first, "to be seen again starts nothing again"
    for ask in (lambda v: v.result, lambda v: v.state):
        other = lab.live(BROKEN, pace=0, show_twin=False)
        ask(other)
        assert other._engine is not None, "a cell that asks cannot wait for a page"
        other.wait()
    pressed = lab.live(BROKEN, pace=0, show_twin=False)
    pressed.widgets.run.click()
    assert pressed.result.outcome == "non_finite"


@pytest.mark.slow
def test_a_repair_and_what_a_lesson_marks_are_seen_in_plot_and_picture(front_end) -> None:
    view = lab.LiveView(BROKEN, pace=0, show_twin=False, pause_at=40).show().start()
    assert view.wait_pause()
    view.patch(BROKEN.healthy().source)
    view.mark(20, "the alarm")
    notes = [note.text for note in view.widgets.chart.figure.layout.annotations]
    assert notes == ["step 20: the alarm", "step 40: repaired"]
    view.resume()
    assert view.result.outcome == "finished"
    assert [note.text for note in view.widgets.chart.figure.layout.annotations] == notes
    assert view._marks == [(40, "repaired"), (20, "the alarm")]
    bare = summary.picture(view.points, view.result)
    assert summary.picture(view.points, view.result, marks=view._marks) != bare
    view.pause_at = None
    view.restart().wait()
    assert view._marks == [], "another run"


def test_figures_share_plotlys_code_and_load_it_late(front_end) -> None:
    first, second = chart.Chart().figure, chart.Chart().figure
    assert first._code is second._code and len(first._code.text) > 1_000_000
    # anywidget leaves a widget deaf whose own code is not loaded within two seconds
    assert len(str(first._esm)) < 3000 and "default" in first._code.text
    first._code.close()
    assert chart.Chart().figure._code.comm is not None


def test_what_the_page_says_of_the_figure_takes_nothing_out_of_it(front_end) -> None:
    plot = chart.Chart()
    plot.draw("broken", [(1, 2.0, 1.0), (2, 1.0, 1.0)])
    figure = plot.figure
    deltas = [{"uid": curve.uid, "x": [1, 2], "y": [2, 1]} for curve in figure.data]
    message = {"trace_deltas": deltas, "trace_edit_id": figure._last_trace_edit_id}
    figure._handle_msg(
        {"content": {"data": {"method": "update", "state": {"_js2py_traceDeltas": message}}}, "buffers": []}
    )
    assert plot.count("broken") == 2 and "x" in figure.data[1].to_plotly_json()


def test_hints_are_counted_by_their_ticket_also_when_the_form_was_not_given_them(front_end) -> None:
    form = lab.DiagnosisForm("Z-018").show()
    assert form.hand_in(cause="a wrong learning rate").hints == 0
    lab.Hints(("a", "b", "c"), ticket="Z-019").next()
    assert form.hand_in().hints == 0, "another case's"
    hints = lab.Hints(("a", "b", "c"), ticket="Z-018").show()
    hints.button.click()
    assert form.hand_in().hints == 1
    lab.Hints(("a", "b", "c"), ticket="Z-018").show()
    assert form.hand_in().hints == 1 and lab.DiagnosisForm("Z-018").hand_in().hints == 1


def test_what_was_opened_stays_open_after_a_restart(front_end) -> None:
    lab.Hints(("one", "two", "three"), ticket="Z-023").next()
    again = lab.Hints(("one", "two", "three"), ticket="Z-023").show()
    assert again.opened == 1 and again.cost == 1 and "one" in again.shown.value and "two" not in again.shown.value
    assert again.button.description.startswith("Hint 2")
    record.forget("an exercise", "Z-023")
    assert lab.Hints(("one", "two", "three"), ticket="Z-023").opened == 0


def test_timer_counts_down_and_stops() -> None:
    timer = lab.Timer(5)
    assert timer.text() in ("5:00 left", "4:59 left") and timer.left > 299
    assert timer.stop() == timer.elapsed < 1
    assert lab.Timer().left == float("inf")


def test_the_form_understands_other_words_and_shows_its_list_for_what_nobody_knows() -> None:
    form = lab.DiagnosisForm()
    assert form.hand_in(cause="Double softmax").cause == "a loss function with the wrong kind of input"
    with pytest.raises(UserError, match="'gremlins' is not a known cause"):
        form.hand_in(cause="gremlins")
    assert form.diagnosis.cause == "a loss function with the wrong kind of input", "what was there stays"
    small = lab.DiagnosisForm(causes=("too hot", "too cold"))
    assert small.hand_in(cause="Too hot.").cause == "too hot" and small.hand_in(place=3).cause == "too hot"
    with pytest.raises(UserError, match="not a cause in this form"):
        small.hand_in(cause="a wrong learning rate")
    assert lab.DiagnosisForm(causes=()).hand_in(cause="whatever I think").cause == "whatever I think"


def test_a_form_says_nothing_of_what_nobody_notes(front_end) -> None:
    """A lesson notes no looks: "looked at: nothing" would be untrue there. An exercise does, and misses them."""
    lesson = lab.DiagnosisForm("Z-031", causes=CAUSES, tests=TESTS).show()
    lesson.face.cause.value, lesson.face.test.value, lesson.face.place.value = CAUSES[0], "A", "3"
    lesson.face.button.click()
    assert "looked" not in lesson.face.told.value and "You took" in lesson.face.told.value
    assert "without" not in lesson.face.told.value
    record.note("Z-032", "started", {"exercise": "04_flat_loss"})
    exercise = lab.DiagnosisForm("Z-032", causes=CAUSES, tests=TESTS).show()
    exercise.face.cause.value, exercise.face.test.value, exercise.face.place.value = CAUSES[0], "A", "3"
    for _ in range(2):  # it first says that no view was opened
        exercise.face.button.click()
    message = exercise.face.told.value
    assert "You opened 0 hints" in message and "took" not in message
