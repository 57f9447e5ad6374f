"""A view of a run in a notebook: its picture, and its numbers beside their usual ranges. No verdict."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from bugzoo import device, views
from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless
from bugzoo.running import Reading, Run
from bugzoo.views import show as shown

THIS, TWIN = "this run", "healthy twin"
"""Names of two runs side by side, as in the live plot."""


def look(
    name: str, run: Run, step: int | None = None, *, beside: Run | Mapping[str, Run] | None = None
) -> dict[str, Any]:
    """Show a view of a run that was made in this kernel; return label -> number of that run.

    The picture comes first, then the numbers outside their usual range, then the rest. `step`: the optimizer step whose batch
    the view `batch` shows. `beside`: the healthy twin's run, or name -> run of several: pictures on one scale, and numbers on
    one line. Raises UserError, before anything is measured, for an unknown view, for what is not a run, and for a step where
    it has no meaning.
    """
    check_view(name, "lab.look({!r}, run)")
    others = beside if isinstance(beside, Mapping) else {} if beside is None else {TWIN: beside}
    for what in (run, *others.values()):
        if not isinstance(what, Run):
            advice = "Pass its `.result`" if hasattr(type(what), "result") else "Make one with `run = scenario.run()`"
            kind = type(what).__name__
            raise UserError(f"`lab.look({name!r}, ...)` takes a run, not an object of type {kind}. {advice}.")
    checked_step(name, step, "lab.look('batch', run, step=...)")
    how: dict[str, Any] = {} if step is None else {"step": step}
    readings = {column: views.measure(result, [name], **how)[name] for column, result in {THIS: run, **others}.items()}
    return show(name, readings if others else readings[THIS], device.of_text(run.source))


def check_view(name: str, call: str) -> None:
    """Raise UserError for an unknown view; `call`: what the reader types, with a place for the view's name."""
    if name not in views.names():
        near = get_close_matches(str(name)[:200].lower(), views.names(), 1, 0.5)
        guess = f" Did you mean `{call.format(near[0])}`?" if near else ""
        raise UserError(f"There is no view named {name!r}.{guess} The views are {', '.join(views.names())}.")


def checked_step(name: str, step: int | None, call: str) -> None:
    """Raise UserError for a step that means nothing to a view; `call`: how the reader asks for one step."""
    if step is None:
        return
    if name != "batch":
        raise UserError(f"The view {name!r} takes no step. Only {call} shows one step.")
    if isinstance(step, bool) or not isinstance(step, int) or step < 1:
        raise UserError(f"step={step!r} is not an optimizer step. Steps are whole numbers from 1.")


def show(name: str, runs: Reading | Mapping[str, Reading], where: str = device.CPU, of: str = "") -> dict[str, Any]:
    """Show a view: its picture if there is a front end, then its numbers. Return label -> number of the first run.

    `runs`: one reading, or name -> reading of several runs. `where`: the device of the runs. `of`: the only run whose
    picture is drawn; the numbers returned are its own.
    """
    named = {"": runs} if isinstance(runs, Reading) else runs
    drawn = {of: named[of]} if of else named
    print(shown.head(name))
    if where != device.CPU:
        print(f"  measured on {where}")
    if headless():
        print(shown.body(name, runs))
    else:
        from IPython.display import display

        from bugzoo import lab

        figure = shown.figure(name, drawn)
        if figure is not None:
            lab.show_figure(figure)  # as PNG: a kernel without pyplot shows a figure as its repr
        display({"text/html": shown.html(name, runs), "text/plain": shown.body(name, runs)}, raw=True)
    return shown.seen(name, next(iter(drawn.values())))
