"""A view of a run in a notebook: its picture, and its numbers beside their usual ranges. No verdict."""

from difflib import get_close_matches
from typing import Any

from bugzoo import device, views
from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless
from bugzoo.running import Reading, Run
from bugzoo.views import show as shown


def look(name: str, run: Run, step: int | None = None) -> dict[str, Any]:
    """Show a view of a run that was made in this kernel; return label -> number.

    `step`: the optimizer step whose batch the view `batch` shows. Raises UserError, before anything is measured, for an
    unknown view, for what is not a run, and for a step where it has no meaning.
    """
    if name not in views.names():
        near = get_close_matches(str(name)[:200].lower(), views.names(), 1, 0.5)
        guess = f" Did you mean `lab.look({near[0]!r}, run)`?" if near else ""
        raise UserError(f"There is no view named {name!r}.{guess} The views are {', '.join(views.names())}.")
    if not isinstance(run, Run):
        advice = "Pass its `.result`" if hasattr(type(run), "result") else "Make one with `run = scenario.run()`"
        raise UserError(f"`lab.look({name!r}, ...)` takes a run, not an object of type {type(run).__name__}. {advice}.")
    checked_step(name, step, "lab.look('batch', run, step=...)")
    reading = views.measure(run, [name], **({} if step is None else {"step": step}))[name]
    return show(name, reading, device.of_text(run.source))


def checked_step(name: str, step: int | None, call: str) -> None:
    """Raise UserError for a step that means nothing to a view; `call`: how the reader asks for one step."""
    if step is None:
        return
    if name != "batch":
        raise UserError(f"The view {name!r} takes no step. Only {call} shows one step.")
    if isinstance(step, bool) or not isinstance(step, int) or step < 1:
        raise UserError(f"step={step!r} is not an optimizer step. Steps are whole numbers from 1.")


def show(name: str, reading: Reading, where: str = device.CPU) -> dict[str, Any]:
    """Print a view, with its picture if there is a front end; return label -> number. `where`: the run's device."""
    print(shown.text(name, reading))
    if where != device.CPU:
        print(f"  measured on {where}")
    if not headless():
        from bugzoo import lab

        figure = shown.figure(name, reading)
        if figure is not None:
            lab.show_figure(figure)  # as PNG: a kernel without pyplot shows a figure as its repr
    return shown.seen(name, reading)
