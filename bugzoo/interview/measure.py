"""What an interview measures: all views and instruments in one run, and further runs when a candidate buys them."""

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

from bugzoo import diagnostics, views
from bugzoo.errors import NotApplicable
from bugzoo.running import Reading, Run, run_worker
from bugzoo.scenario import Scenario

SCRIPT = "train.py"
"""Name of the candidate's file, and of the file in every traceback."""

_OWN = "view "
"""Prefix of a view's own numbers in `Run.readings`: a view and an instrument may share a name."""


def once(run: Run) -> dict[str, Reading]:
    """Return the reading of each instrument, and of what each view measures itself. This is a `Job.after` function."""
    return diagnostics.measure_all(run) | {_OWN + name: _own(name, run) for name in views.names()}


def _own(name: str, run: Run, **how: Any) -> Reading:
    try:
        return Reading(views.view(name).measure(run, **how).measured())
    except NotApplicable as why:
        return Reading(why_not=str(why))
    except Exception as error:  # a script may do anything when its model is called again
        return Reading(why_not=f"could not measure ({type(error).__name__}: {error})"[:200])


def collected(scenario: Scenario) -> tuple[Run, dict[str, Reading]]:
    """Run the script once; return its run, with a reading of each instrument, and a reading of each view.

    The parts of a view that need further runs of the script are left out; `run_again` adds them.
    """
    job = replace(scenario.job(after=f"{__name__}:once"), file=SCRIPT)
    run = run_worker(job)
    if run.outcome == "stopped":
        return run, {}
    found = dict(run.readings)
    if len(run.ranks) > 1 or not found:  # ranks are compared once all of them are back; a lost process leaves its trace
        for name, here in once(run).items():
            found[name] = _both(here, found.get(name))
    of_views = {name: found.pop(_OWN + name) for name in views.names()}
    run.readings = found
    return run, {name: combined(name, of_views[name], found) for name in views.names()}


def _both(here: Reading, there: Reading | None) -> Reading:
    if there is None or not there.applies:
        return here if here.applies or there is None else there
    return Reading({**here.numbers, **there.numbers})


def combined(name: str, own: Reading, instruments: Mapping[str, Reading]) -> Reading:
    """Return a view's own numbers and those of its instruments, as `views.measure` does."""
    numbers, why = dict(own.numbers), [own.why_not] if own.why_not else []
    for instrument in views.instruments(name):
        if (reading := instruments.get(instrument)) is None:
            continue
        numbers |= {f"{instrument}.{key}": value for key, value in reading.numbers.items()}
        why += [reading.why_not] if reading.why_not else []
    return Reading(numbers) if numbers else Reading(why_not=why[0] if why else "nothing was seen")


def ended_by_itself(run: Run) -> bool:
    """Return whether a script reached its end, so that it can be run again."""
    return run.outcome in ("finished", "non_finite")


def run_again(name: str, run: Run, reading: Reading) -> Reading:
    """Run the script again as often as the view needs; return its reading with the numbers that were missing.

    The readings of its instruments are added to `run.readings`. A script that did not end by itself is not run again.
    """
    again, ended = ended_by_itself(run), Reading(why_not=f"the run ended as {run.outcome}")
    for instrument in views.instruments(name):
        if diagnostics.reruns(instrument):
            run.readings[instrument] = diagnostics.read(instrument, run) if again else ended
    return combined(name, reading, run.readings)


def takes_step(name: str) -> bool:
    """Return whether a view can show one optimizer step that is asked for."""
    return "step" in signature(views.view(name).measure).parameters


def at_step(scenario: Scenario, name: str, step: int) -> Reading:
    """Run the script once more and return the view of one optimizer step. Raises KeyboardInterrupt for a stopped run."""
    job = scenario.job(after="bugzoo.views:measure", after_args={"names": [name], "step": step})
    run = run_worker(replace(job, file=SCRIPT, source=views.view(name).prepare(job.source, step)))
    if run.outcome == "stopped":
        raise KeyboardInterrupt
    return run.readings.get(name) or Reading(why_not=f"the run ended as {run.outcome}")
