"""The list of evidence, what each view shows as text, and what it says against a cause."""

import math
import re

import pytest

from bugzoo import faults, views
from bugzoo.errors import UserError
from bugzoo.interview import debrief, measure, tables
from bugzoo.interview.deck import draw
from bugzoo.interview.evidence import Evidence, collect, view_text
from bugzoo.interview.requests import BESIDES, PRINTED, TWIN, find, listed, price
from bugzoo.running import Reading, run_worker
from bugzoo.scenario import Scenario


def test_the_list_is_that_of_the_views():
    requests = listed()
    assert [request.number for request in requests] == list(range(1, 19))
    assert [(request.heading, request.name) for request in requests[:-2]] == [
        (heading, name) for heading, names in views.HEADINGS.items() for name in names
    ]
    assert [request.about for request in requests[:-2]] == [views.question(name) for name in views.names()]
    assert [(request.heading, request.name) for request in requests[-2:]] == [(BESIDES, TWIN), (BESIDES, PRINTED)]


def test_a_price_follows_from_what_a_view_needs():
    """`memory` reads the run, `influence` calls the model, `repeat` runs the script again."""
    assert (price("memory"), price("influence"), price("repeat")) == (2, 4, 10)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("0", "no evidence 0"),
        ("19", "Choose from 1 to 18"),
        ("9" * 10, "no piece of evidence"),
        ("gradient", "Did you mean gradients"),
        ("fresh_gradient", "'fresh_gradient' stands in the view 'gradients'"),
        ("double_normalisation", "the view 'outputs'"),
        ("replay", "`list` lists all 18"),
    ],
)
def test_a_wrong_name_is_answered(typed, said):
    with pytest.raises(UserError, match=re.escape(said)):
        find(typed)


def test_a_name_and_its_number_are_one():
    assert all(find(request.name) == find(str(request.number)) == request for request in listed())
    assert find("loss_curve").name == "loss_curve", "also an instrument's name"


@pytest.fixture(scope="module")
def in_one_run() -> tuple[dict[str, Reading], dict[str, Reading]]:
    """The views of one program, as an interview and as an exercise measure them."""
    scenario = Scenario("mlp", ("loop/stale_gradients",), seed=5)
    names = [name for name in views.names() if not views.reruns(name)]
    run = run_worker(scenario.job(after="bugzoo.views:measure", after_args={"names": names}))
    return measure.collected(scenario)[1], dict(run.readings)


VARY = ("memory", "time")
"""Views of durations and of what the garbage collector left: no two runs have the same."""


@pytest.mark.slow
def test_an_interview_measures_what_an_exercise_does(in_one_run):
    here, there = in_one_run
    for name, reading in there.items():
        assert here[name].why_not == reading.why_not, name
        assert set(here[name].numbers) == set(reading.numbers), name
        for row in views.rows(name):
            first, other = row.value(here[name].numbers), row.value(reading.numbers)
            if isinstance(first, float) and name not in VARY:
                assert first == pytest.approx(other, rel=1e-3, abs=1e-6), row


@pytest.mark.parametrize("name", views.names())
def test_a_view_is_words_with_usual_ranges(name, evidence):
    text = view_text(name, evidence.readings[name])
    first, *lines = text.splitlines()
    assert first == f"{name}: {views.question(name)}"
    if name == "ranks":
        assert lines == ["  nothing to see: the script runs on one rank"]
        return
    for row in views.rows(name):
        if row.value(evidence.readings[name].numbers) is not None:
            (line,) = [line for line in lines if line.startswith(f"  {row.label}: ")]
            assert (f"(usual: {row.usual_text()})" in line) == (row.usual is not None)
        assert row.source not in text or "." not in row.source, "no bare name of a number"
    assert not re.search(r"outside|unusual|fired|suspect", text), "numbers without a verdict"


def test_a_view_that_needs_further_runs_makes_them_when_it_is_bought(evidence):
    assert "resumption" not in evidence.run.readings or not evidence.run.readings["determinism"].applies
    text = evidence.ask(find("repeat"))
    assert evidence.run.readings["determinism"].applies and evidence.spent == 10
    label = next(row.label for row in views.rows("repeat") if row.source == "determinism.largest")
    assert f"{label}: 0 (usual: " in text


def test_further_runs_that_are_not_made_are_not_charged():
    """A script that crashes is not run again, and `repeat` shows what the first run has of it."""
    evidence = collect(draw(1, "shape/shape_mismatch_deep", "mlp").scenario)
    assert evidence.outcome == "crashed" and evidence.cost(find("repeat")) == 10, "the list says nothing about the run"
    assert "the run ended as crashed" in evidence.ask(find("repeat")) or evidence.bought("repeat")
    assert evidence.spent == 4
    assert evidence.unusual() is False
    evidence.ask(find("layers"))
    assert evidence.unusual(), "an error that ended the run"


def test_a_tensor_a_line():
    numbers = {"names": ["a", "b" * 90], "moments": ["after backward()"], "norms": [[1.0, math.nan]]}
    head, columns, first, second = tables.text("gradients", numbers)
    assert head == "gradient norm of each tensor:" and columns.split() == ["tensor", "after", "backward()"]
    assert first.split() == ["a", "1"] and second.split()[1] == "-" and len(second) <= tables.WIDTH


@pytest.mark.parametrize("name", views.names())
def test_tables_say_nothing_about_nothing(name):
    assert tables.text(name, {}) == []


def test_a_curve_has_both_ends():
    assert tables.curve([0.5] * 99 + [math.inf]).split("  ")[:: tables.POINTS - 1] == ["1: 0.5", "100: inf"]
    assert tables.curve([]) == "no step was made"


def test_only_a_number_of_an_opened_view_contradicts(evidence):
    """A frozen layer would leave parameters unmoved: `weights` says that all moved."""
    claims = faults.load("freezing/frozen_layers").evidence
    assert not evidence.contradicts(claims)
    evidence.ask(find("gradients"))
    assert not evidence.contradicts(claims), "its numbers do not stand there"
    evidence.ask(find("weights"))
    assert evidence.contradicts(claims)
    assert not evidence.contradicts(faults.load("loop/stale_gradients").evidence)


def test_how_the_run_ended_is_known_from_its_output(evidence):
    crash = ("outcome == crashed",)
    assert not evidence.contradicts(crash)
    evidence.ask(find("terminal"))
    assert evidence.contradicts(crash) and not evidence.contradicts(("outcome == finished",))


def test_a_number_that_was_not_measured_contradicts_nothing(evidence):
    evidence.ask(find("influence"))
    assert not evidence.contradicts(("attention_scale.scale_ratio > 2",)), "there is no attention in this program"


def test_a_case_without_a_view_is_not_drawn():
    """Each of the first cases shows in at least one view, or in what the script printed."""
    for seed in range(40):
        case = draw(seed)
        assert case.fault.trap or debrief.telling(case.fault), case.fault.id


def test_evidence_of_a_lost_process(tmp_path):
    """A run that was killed leaves its trace, and the views that read it."""
    scenario = Scenario("mlp", ("loop/stale_gradients",), seed=5)
    run = run_worker(scenario.job())
    run.readings = {}
    readings = {name: measure.combined(name, Reading(why_not="lost"), {}) for name in views.names()}
    assert all(not reading.applies for reading in readings.values())
    evidence = Evidence(scenario, run, readings, [])
    assert "nothing to see" in evidence.ask(find("gradients")) and not evidence.unusual()


def test_updates_of_a_lost_process_have_no_ratios():
    """A hung rank leaves its losses, and no number that is measured at the end."""
    run = run_worker(Scenario("mlp", ("loop/stale_gradients",), seed=5).job())
    run.trace.update_ratio = run.trace.update_ratio[:0]
    assert views.view("updates").measure(run)["steps"] == 216
