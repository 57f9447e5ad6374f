"""The table that checkup takes its scores from, and how it is counted."""

import json

from bugzoo.diagnostics import names
from bugzoo.faults import catalogue
from tests.benchmarks.instrument_scores import SCORES, by_set, counted
from tests.benchmarks.opened import made_on, opened


def told(right=(), accept=(), fired=(), healthy=False, made_on=False, outcome="found"):
    verdicts = [{"instrument": name, "suspects": [{"cause": cause} for cause in causes]} for name, causes in fired]
    return {"of": "set", "right": list(right), "accept": list(accept), "fired": verdicts, "healthy": healthy,
            "made_on": made_on, "outcome": outcome}  # fmt: skip


def test_a_firing_counts_by_the_cause_that_it_puts_first_on_scripts_that_it_was_not_made_with():
    fired = [("one", ["a/b", "c/d"]), ("two", [])]
    scripts = [told(accept=["a/b"], fired=fired), told(accept=["c/d"], fired=fired), told(healthy=True, fired=fired)]
    assert counted([*scripts, told(accept=["a/b"], fired=fired, made_on=True)]) == {"one": {"a/b": [3, 1]}}


def test_a_set_is_counted_by_how_its_scripts_were_judged():
    broken = [told([True]), told([False, True]), told([False]), told([])]
    healthy = [told(healthy=True), told(healthy=True, outcome="nothing")]
    assert by_set([*broken, *healthy]) == {
        "set": {
            "broken": 4,
            "right first": 1,
            "in three": 2,
            "silent": 1,
            "wrong first": 2,
            "healthy": 2,
            "false alarms": 1,
        }
    }


def test_the_table_that_is_kept_counts_instruments_and_causes_that_there_are():
    counts = json.loads(SCORES.read_text(encoding="utf-8"))["counts"]
    assert set(counts) <= set(names())
    for causes in counts.values():
        assert set(causes) <= set(catalogue())
        assert all(0 <= hits <= firings for firings, hits in causes.values())


def test_the_scripts_that_count_are_those_that_were_right_at_first_sight(tmp_path):
    every = list(opened(tmp_path))
    assert len(every) > 300 and all(script.path.exists() for script in every)
    assert {script.set for script in every if not made_on(script)} == {
        "unseen",
        "reported",
        "missed",
        "threads",
        "calls",
        "fixes",
    }
