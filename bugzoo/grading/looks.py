"""Views and tools in an exercise: measured on a run of the learner's program, printed and drawn without a verdict."""

import textwrap
from itertools import zip_longest
from typing import Any

from bugzoo import device, views
from bugzoo.diagnostics import question, tools
from bugzoo.diagnostics.numbers import digits, of_instrument
from bugzoo.errors import UserError, unknown
from bugzoo.frontend import fit
from bugzoo.grading import healthy
from bugzoo.lab.look import checked_step
from bugzoo.lab.look import show as show  # an exercise shows a view as a lesson does
from bugzoo.running import Job, Reading, run_worker
from bugzoo.views import views_of

WIDE = 96
"""Characters of a page: a longer line would break within a word."""


def listed() -> str:
    """Return the views with their questions under their headings, and the tools."""
    width, lines = max(map(len, (*views.names(), *tools()))), []
    for heading, names in views.HEADINGS.items():
        lines.append(heading)
        lines += [line for name in names for line in _asked(name, views.question(name), width)]
    lines.append("tools, as in program.tool(name)")
    return "\n".join([*lines, *(line for name in tools() for line in _asked(name, question(name), width))])


def _asked(name: str, what: str, width: int) -> list[str]:
    lines = textwrap.wrap(what, WIDE - width - 4)
    return [f"  {head:{width}}  {line}" for head, line in zip_longest([name], lines, fillvalue="")]


def checked(name: str, step: int | None) -> None:
    """Raise UserError for an unknown view, an instrument's name, or a step that means nothing."""
    if name not in views.names():
        raise moved(name) if views_of([name]) else unknown("view", name, views.names(), "program.views()")
    checked_step(name, step, "program.look('batch', step=...)")


def checked_tool(name: str) -> None:
    """Raise UserError for an unknown tool."""
    if name not in tools():
        raise unknown("tool", name, tools(), "program.views()")


def moved(name: str) -> UserError:
    """Return the error for an instrument's name: it says which view or tool to use."""
    if name in tools():
        return UserError(f"{name!r} is a tool. Use program.tool({name!r}).")
    if not (matches := views_of([name])):
        return unknown("view", name, views.names(), "program.views()")
    return UserError(f"Exercises show views of a run now. Use program.look({matches[0]!r}).")


class Looks:
    """The readings of one program's runs. One run serves every view that needs no further run."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int | None], Reading] = {}

    def reading(self, name: str, source: str, ranks: int, step: int | None = None) -> Reading:
        """Return the reading of a view, from a run that is made if it is not there yet."""
        key = (source, name, step)
        if key not in self._known:
            alone = step is not None or views.reruns(name) > 0
            names = [name] if alone else [view for view in views.names() if not views.reruns(view)]
            print(fit(_announced(name, alone)), flush=True)
            readings = measured(names, source, ranks, step)
            self._known |= {(source, view, step): reading for view, reading in readings.items()}
        return self._known[key]


def _announced(name: str, alone: bool) -> str:
    runs = views.reruns(name) + 1
    if runs > 1:
        return f"The program runs {runs} times for this view ..."
    return "The program runs once for this view ..." if alone else "The program runs once, for all views ..."


def measured(names: list[str], source: str, ranks: int = 1, step: int | None = None) -> dict[str, Reading]:
    """Run the program once and return the views' readings; `step`: the step whose batch is shown."""
    how: dict[str, Any] = {}
    if step is not None:
        from bugzoo.views import batch

        how, source = {"step": step}, batch.prepare(source, step)
    there = [name for name in names if ranks == 1 or not views.reruns(name)]  # one rank cannot start all ranks again
    run = run_worker(healthy.job(source, ranks, after="bugzoo.views:measure", after_args={"names": there, **how}))
    readings = dict(run.readings)
    if ranks > 1 or not readings:  # ranks are compared once all of them are back; a lost process leaves its trace
        for name, here in views.measure(run, names, **how).items():
            numbers = {**here.numbers, **(readings[name].numbers if name in readings else {})}
            readings[name] = Reading(numbers) if numbers else here
    ended = Reading(why_not=f"the run ended as {run.outcome}")
    return {name: readings.get(name) or ended for name in names}


def use(name: str, source: str, ranks: int, diagnosed: bool | None) -> dict[str, Any]:
    """Run a tool on the program, print its numbers and what is kept back; return label -> value.

    `diagnosed`: whether its conclusion is open; None where it stays closed.
    """
    from bugzoo.diagnostics import instrument, reruns

    how: dict[str, Any] = {"names": [name], "most_reruns": reruns(name)}
    job: Job = healthy.job(source, ranks, after="bugzoo.diagnostics:measure_all", after_args=how)
    run = run_worker(job)
    reading = run.readings.get(name) or Reading(why_not=f"the run ended as {run.outcome}")
    print(fit(f"{name}: {question(name)}"))
    if (where := device.of_text(source)) != device.CPU:
        print(f"  measured on {where}")
    if not reading.applies:
        print(fit(f"  nothing to measure: {reading.why_not}"))
        return {}
    rows = [(number.label, reading.numbers.get(key)) for key, number in of_instrument(name).items() if number.label]
    values = {label: value for label, value in rows if value is not None}
    width = max(map(len, values), default=0)
    print("\n".join(f"  {label:{width}}  {digits(value):>9}" for label, value in values.items()))
    if diagnosed:
        print(fit(f"  {instrument(name).judge(reading.numbers).message}"))
    elif diagnosed is not None:
        print("  What it concludes opens with your diagnosis.")
    return values
