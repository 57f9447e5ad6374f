"""What the instruments read in a submission's run, and which of them count."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bugzoo.diagnostics import Verdict, instrument, measure_all, names
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario

SLOW = ("host_syncs", "backward_checks", "transfers", "compiled_graphs")
"""What they count costs time, and leaves every number as it was."""

COPIES = "kept_weights"


def measured(run: Run) -> dict[str, Reading]:
    """Return the instruments' readings. Those of the trace are measured here, out of the submission's reach; the rest
    needed its live model, so they come from its own process."""
    here = measure_all(replace(run, arrays={}, readings={}), max_cost=0)
    sure = {name: reading for name, reading in here.items() if name not in run.readings or reading.applies}
    return run.readings | sure


def account(run: Run) -> Mapping[str, Any]:
    """Return the submission process's report on its data, tools and size; empty without one."""
    return run.readings.get("integrity", Reading()).numbers


def timed() -> tuple[str, ...]:
    """Return the instruments that judge durations."""
    return tuple(name for name in names() if getattr(instrument(name), "TIMED", False))


def only_slow(case: Scenario) -> tuple[str, ...]:
    """Return the instruments of what makes a run slow and changes nothing in it; none where a fault of the case is slow.

    A learner who looks at each gradient's norm has not broken the training.
    """
    return () if any(fault.symptom == "slow" for fault, _ in case.specs) else SLOW


def only_copies(case: Scenario) -> tuple[str, ...]:
    """Return the instrument of copies of the weights; none where a fault of the case shows in it.

    A learner may keep an average of the weights, which is better than the final ones, and not evaluate with it.
    """
    return () if COPIES in _named(case) else (COPIES,)


def _named(scenario: Scenario) -> set[str]:
    """Return the instruments in which the faults show."""
    return {text.split(".")[0] for fault, _ in scenario.specs for text in (*fault.evidence, fault.effect)}


def spared(scenario: Scenario, first: bool) -> list[str]:
    """Return the instruments that are skipped on the `first` seed or on later ones. Those that never fail a submission
    are always skipped. Those that train the model again run on the first seed only, unless they show the fault. Metric
    and losses cover the other seeds."""
    quiet = [name for name in names() if not getattr(instrument(name), "ACCUSES", True)]
    if first:
        return quiet
    named = _named(scenario)
    trains = [name for name in names() if getattr(instrument(name), "TRAINS", False) and name not in named]
    return [*quiet, *(name for name in trains if name not in quiet)]


def judged(readings: Mapping[str, Reading]) -> tuple[list[Verdict], list[str]]:
    """Return (verdicts, instruments with unusable numbers, as the submission's process may return anything)."""
    verdicts, spoilt = [], sorted(set(names()) - set(readings))
    for name, reading in readings.items():
        try:
            if name != "integrity" and reading.applies:
                verdicts.append(instrument(name).judge(reading.numbers))
        except Exception:  # a faked number may raise anything
            spoilt.append(str(name)[:60])
    return verdicts, spoilt
