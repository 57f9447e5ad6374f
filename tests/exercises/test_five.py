"""The kind *five*: recordings, the truth derived from them, the price of readings, the notebook, and a proof that can fail."""

import contextlib
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ipywidgets.widgets.tests.utils import setup_test_comm, teardown_test_comm

from bugzoo import record, views
from bugzoo.errors import UserError
from bugzoo.grading import __main__ as grader
from bugzoo.grading import another, cell
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.kinds.five import answers as fives
from bugzoo.grading.kinds.five import debrief as debrief_five
from bugzoo.grading.kinds.five import recordings
from bugzoo.grading.kinds.five import runs as five_runs
from bugzoo.grading.kinds.five.recordings import Recorded, recorded_views, recording
from bugzoo.grading.kinds.five.widgets import FiveForm, Readings
from bugzoo.grading.notebook import build
from bugzoo.lab import page
from bugzoo.plots import five_curves
from bugzoo.proving import check
from bugzoo.proving import fives as proof
from bugzoo.proving.leaks import names
from bugzoo.running import Reading, Run
from bugzoo.views import show
from bugzoo.watching.trace import Trace
from tests.exercises.test_stories import missing
from tests.exercises.test_sweep import told

ROOT = Path(__file__).resolve().parents[2]
FIVES = [name for name, exercise in exercises().items() if exercise.kind.name == "five"]
CASES = [case.name for name in FIVES for case in fives.cases(load(name))]
NAME = "02_five_beginnings"


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))


# ---- the recordings


@pytest.mark.parametrize("name", CASES)
def test_a_recording_is_of_todays_programs_and_small_and_names_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUGZOO_PROOFS", str(ROOT / "proofs"))
    exercise = load(name)
    assert proof.stale(exercise) == []
    assert recordings.path(name).stat().st_size < 64 * 1024
    assert not [one for one in names(exercise) if one in repr(recording(name)).lower()]
    assert len({one.source for one in fives.runs(exercise)}) == fives.RUNS, "no run stands there twice"


def test_another_program_makes_a_recording_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_PROOFS", str(ROOT / "proofs"))
    exercise = load(NAME)
    assert proof.stale(replace(exercise, seed=exercise.seed + 1))
    assert proof.texts(replace(exercise, seed=exercise.seed + 1)) != proof.texts(exercise)


@pytest.mark.parametrize("name", CASES)
def test_every_reading_prints_and_draws_what_a_full_one_would(name: str) -> None:
    for run in recording(name):
        for view in recorded_views():
            text = show.text(view, run.readings[view])
            assert told(text) == [], text
        assert show.figure("loss_curve", run.readings["loss_curve"]) is not None


def test_a_recording_keeps_what_a_view_needs_and_drops_what_names_causes() -> None:
    curves = {"overfit_one_batch.repetitions": [1.0, 2.0], "overfit_one_batch.losses": [2.0, 1.0]}
    rows = {"overfit_one_batch.first_loss": 2.123456789, "overfit_one_batch.ratio": 0.5}
    reading = recordings._kept("one_batch", Reading({**curves, **rows, "overfit_one_batch.late_fall": 1.0}))
    assert dict(reading.numbers) == {**curves, **rows}
    readings = {view: Reading(why_not="-") for view in recorded_views()} | {
        "loss_curve": Reading({"lost": float("inf")})
    }
    run = Run(Trace(loss=np.array([2.123456789, float("nan")])), readings=readings)
    [back] = recordings.read_back(recordings.written([run]))
    assert back.losses[0] == 2.1235 and back.losses[1] != back.losses[1]
    assert back.readings["loss_curve"].numbers["lost"] == float("inf")


def test_without_a_recording_the_command_is_named() -> None:
    with pytest.raises(UserError, match="bugzoo exercises record 99"):
        recording("99_not_there")


# ---- the truth, and what an answer earns


def test_the_recordings_differ_in_position_and_one_has_no_ill_run() -> None:
    for name in FIVES:
        right = [fives.broken(case) for case in fives.cases(load(name))]
        assert len(set(right)) >= 3 and fives.NONE in right, right
        with pytest.raises(UserError, match="You have drawn all"):
            another.case(load(name), len(right))


@pytest.mark.parametrize("name", CASES)
def test_every_answer_earns_what_it_should(name: str) -> None:
    assert proof.of_answers(load(name)) == []
    assert fives.grade(load(name), {}).status == "not attempted"
    assert proof.blind(load(name)) <= 0.25


def ranges(outside: dict[int, list[str]]) -> tuple[Recorded, ...]:
    """Five runs: position -> sources of the gradients' rows that are outside their usual range."""
    rows = {row.source: row.range for row in views.rows("gradients") if row.range}
    runs = []
    for place in range(1, 6):
        numbers = {source: rows[source][1] + 1 for source in outside.get(place, ())}
        readings = {view: Reading(numbers if view == "gradients" else {}) for view in recorded_views()}
        runs.append(Recorded((1.0,), {}, readings))
    return tuple(runs)


def test_a_view_tells_only_what_is_unusual_in_one_run_alone() -> None:
    assert set(fives.telling(ranges({2: ["without"]}), 2)) == {"gradients"}
    assert fives.telling(ranges({2: ["without"], 4: ["without"]}), 2) == {}
    assert set(fives.telling(ranges({2: ["without", "zero"], 4: ["without"]}), 2)) == {"gradients"}
    assert fives.telling(ranges({4: ["without"]}), 2) == {}


def test_readings_without_a_price_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fives, "price", lambda count: 0.0)
    assert "all readings opened earns 100% instead of 70%" in proof.of_answers(load(NAME))
    assert fives.PRICE * (len(recorded_views()) * fives.RUNS - fives.FREE) > fives.MOST


def test_a_grader_that_believes_any_run_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = fives.broken(load(NAME))
    monkeypatch.setattr(fives, "named_run", lambda given: right)
    text = " ".join(proof.of_answers(load(NAME)))
    assert "run 0 earns 100% instead of 0%" in text and "a guess without a look earns" in text


def test_what_an_answer_says_of_itself_is_not_believed() -> None:
    exercise = load(NAME)
    wrong = fives.filled(exercise) | {"run": fives.broken(exercise) % 5 + 1, "right": True, "share": 1.0, "opened": []}
    assert fives.grade(exercise, wrong).points == 0
    none = fives.filled(exercise) | {"run": "none"}
    assert fives.grade(exercise, none).points == 0 and fives.grade(exercise, {"run": 9}).status == "not attempted"


# ---- the learner's side


def test_five_readings_are_free_and_one_that_was_opened_costs_once(capsys: Any) -> None:
    runs = five_runs.begin(NAME)
    for place in (1, 2, 3, 4, 5, 5):
        runs.look("loss_curve", place)
    assert "Readings opened: 5, cost so far 0%" in capsys.readouterr().out
    runs.look("batch", 1)
    assert "Readings opened: 6, cost so far 2%" in capsys.readouterr().out
    assert five_runs.begin(NAME).opened() == runs.opened(), "the record outlives the kernel"
    for view, place, reason in (("gradient", 1, "gradients"), ("memory", 1, "view"), ("batch", 6, "1 to 5")):
        with pytest.raises(UserError, match=reason):
            runs.look(view, place)
    assert len(runs.opened()) == 6


def test_the_readings_of_one_view_stand_beside_each_other(capsys: Any) -> None:
    runs = five_runs.begin(NAME)
    for view, place in (("batch", 1), ("gradients", 2)):
        runs.look(view, place)
    numbers = runs.look("gradients", 4)
    shown = capsys.readouterr().out.split("gradients: ")[2]
    assert re.findall(r"run \d", shown) == ["run 2", "run 4"], "in order, and no other view's run"
    assert numbers == show.seen("gradients", recording(NAME)[3].readings["gradients"]), "the numbers of the run named"


def test_one_reading_is_free() -> None:
    runs = five_runs.begin(NAME)
    for place in (1, 2, 3, 4):
        runs.look("loss_curve", place)
    assert runs.cost().endswith("; 1 is free.")
    assert runs.standing().endswith("; 1 is free. Open: loss_curve of run 1, 2, 3, 4.")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Widgets without a page: the texts that stay in the saved notebook."""
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    texts: list[str] = []
    monkeypatch.setattr(page, "keep", lambda handle, text, record=None: texts.append(text))
    setup_test_comm()
    yield texts
    teardown_test_comm()


def test_a_press_counts_once_and_a_restart_shows_what_was_opened(kept: list[str], capsys: Any) -> None:
    box = Readings(five_runs.begin(NAME))
    assert "Readings opened: 0" in box.told.value and "run 1" not in capsys.readouterr().out
    box.view.value = "gradients"
    for place in (5, 2):
        box.buttons[place - 1].click()
    printed = capsys.readouterr().out
    assert "Readings opened" not in printed, "the count stands in one place"
    assert "Readings opened: 2, " in box.told.value and "<th" not in box.told.value
    assert kept[-1].endswith("Open: gradients of run 2, 5. Run this cell for the buttons.")
    again = Readings(five_runs.begin(NAME))
    printed = capsys.readouterr().out
    assert again.view.value == "gradients" and "Readings opened: 2, " in again.told.value and kept[-1] == kept[-2]
    assert "gradients: " in printed, "the opened readings are there"
    again.view.value = "batch"
    assert "batch: " not in capsys.readouterr().out, "to choose a view opens nothing"
    again.view.value = "gradients"
    assert "gradients: " in capsys.readouterr().out and len(five_runs.begin(NAME).opened()) == 2


@pytest.mark.usefixtures("kept")
def test_a_healthy_run_has_no_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    form = FiveForm(runs := five_runs.begin(NAME))
    assert "nothing is wrong" not in runs.causes and runs.causes == tuple(form.cause.options[at][0] for at in range(7))
    form.cause.value = runs.causes[0]
    assert form.cause.layout.display is None
    form.run.value = fives.NONE
    assert form.cause.layout.display == "none"
    form.reading.value = "batch"
    form.button.click()
    [answer] = record.notes(runs.ticket, "diagnosis")
    assert answer["complete"] and answer["run"] == fives.NONE and answer["cause"] == ""
    form.run.value = 3
    assert form.cause.layout.display is None


def test_the_first_complete_answer_is_graded(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(cell, "ask", lambda name, question: grader.answer(name, question))
    runs, right = five_runs.begin(NAME), fives.filled(load(NAME))
    assert cell.diagnosis(NAME) == 0 and "The answer is empty" in capsys.readouterr().out
    runs.hand_in(run=right["run"])
    assert cell.diagnosis(NAME) == 0 and "not complete" in capsys.readouterr().out
    runs.hand_in(**right | {"run": right["run"] % 5 + 1})
    runs.hand_in(**right)
    assert cell.diagnosis(NAME) == 0
    printed = capsys.readouterr().out
    assert "Practice" in printed and "passed: 10 of 10 points" in printed and record.standing()[NAME]["passed"] == 0


@pytest.mark.parametrize(("kind", "points"), [("solution", 10.0), ("student", 0.0)])
@pytest.mark.parametrize("name", CASES)
def test_a_notebook_runs_from_top_to_bottom(
    name: str, kind: str, points: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell, "ask", lambda name, question: grader.answer(name, question))
    space: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for part in json.loads(build(load(name), kind))["cells"]:
            if part["cell_type"] == "code":
                exec("".join(part["source"]), space)
    assert cell.diagnosis(name) == points
    assert ("### Next" in printed.getvalue()) == (kind == "solution")
    assert (record.standing().get(name, {}).get("passed", False)) == (kind == "solution")


@pytest.mark.parametrize("name", CASES)
def test_its_debrief_names_the_run_and_its_numbers_and_its_ticket_no_number(name: str) -> None:
    exercise, text = load(name), debrief_five.text(load(name))
    assert f"### Run {fives.broken(exercise)} is broken: " in text or "### None of the five is broken" in text
    assert ("### What tells" in text) == bool(fives.broken(exercise)) and text.count("- Run ") == 5
    assert told(f"{exercise.title} {exercise.story}") == []
    printed = (
        "\n".join(five_runs.table([run.losses for run in recording(name)])) + f" {five_runs.guessing(name):.4f} 10 "
    )
    printed += " ".join(f"{run.metrics.get('accuracy', 0):.4f}" for run in recording(name))
    quoted = missing(exercise.story, printed)
    if exercise.tickets:
        assert not [number for number in quoted if number[0].isdigit()], "a story's numbers are those of its runs"
    else:
        assert missing(exercise.story, "") == [], "a ticket that is drawn quotes nothing"


def test_the_curves_stand_on_one_scale() -> None:
    figure = five_curves.picture([[2.0, 1.0], [2.0, 2.0], [float("nan")] * 2, [0.5], [3.0, 2.5]])
    assert [ax.get_title() for ax in figure.axes] == [f"run {place}" for place in range(1, 6)]
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert figure.patch.get_alpha() == 0.0, "the page's own color shows through"


def test_the_curves_fill_their_height_and_guessing_is_a_line() -> None:
    flat = [[2.31, 2.29], [2.3, 2.28]]
    low, high = five_curves.picture(flat).axes[0].get_ylim()
    assert 2.27 < low < 2.28 and 2.31 < high < 2.32
    assert [len(ax.lines) for ax in five_curves.picture(flat, guessing=2.3).axes] == [2, 2]
    assert five_runs.guessing(NAME) == 2.3026, "also where one run does not say how many classes it has"
    assert math.isnan(five_runs.guessing(f"{NAME}-2")), "a regression"


# ---- the proof of the runs, without training


def made(exercise: Any, firing: dict[int, str] = {}, evidence: bool = True) -> list[Run]:  # noqa: B006
    """Runs that read back as the recording; `firing`: position -> an instrument with numbers that fire."""
    runs = []
    for place, run in enumerate(recording(exercise.name), 1):
        readings = {f"{recordings.JUDGED}{name}": Reading(why_not="-") for name in proof.diagnostics.names()}
        if place == fives.broken(exercise):
            readings[f"{recordings.JUDGED}fresh_gradient"] = Reading({"leaf_loss": float(evidence)})
        if place in firing:
            readings[f"{recordings.JUDGED}{firing[place]}"] = Reading({"ratio": 30.0})
        runs.append(Run(Trace(loss=np.array(run.losses)), readings={**run.readings, **readings}))
    return runs


@pytest.fixture
def alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    def fired(run: Run) -> list[str]:
        return [name for name in ("initial_loss",) if run.readings[f"{recordings.JUDGED}{name}"].applies]

    monkeypatch.setattr(proof, "fired", fired)


@pytest.mark.usefixtures("alarms")
def test_each_sentence_of_the_proof_can_come_out(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = load(NAME)
    bad, healthy = fives.broken(exercise), fives.broken(exercise) % 5 + 1
    assert proof.of_runs(exercise, made(exercise)) == []
    report = proof.of_runs(exercise, made(exercise, {healthy: "initial_loss"}))
    assert report == [f"run {healthy} is healthy, and initial_loss raised an alarm"]
    [report] = proof.of_runs(exercise, made(exercise, evidence=False))
    assert report == f"run {bad} is broken and does not show fresh_gradient.leaf_loss > 0.5"
    moved = made(exercise)
    moved[healthy - 1] = Run(Trace(loss=np.full(36, 9.0)), readings=moved[healthy - 1].readings)
    assert proof.of_runs(exercise, moved) == [f"run {healthy} differs from its recording"]
    deaf = made(exercise)
    deaf[bad - 1].readings.update({view: Reading(why_not="-") for view in recorded_views()})
    assert "no reading tells which run is broken" in proof.of_runs(exercise, deaf)


def test_check_proves_every_recording_and_no_submission() -> None:
    for name in FIVES:
        kinds = [kind for _, kind, _ in check.work_of(name)]
        assert kinds == [check.LEAKS] + [check.FIVE] * len(fives.cases(load(name)))
