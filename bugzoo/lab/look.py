"""A view of a run in a notebook: its picture, and its numbers beside their usual ranges. No verdict."""

from typing import Any

from bugzoo import views
from bugzoo.lab.frontend import headless
from bugzoo.running import Reading, Run
from bugzoo.views import show as shown


def look(name: str, run: Run, step: int | None = None) -> dict[str, Any]:
    """Show a view of a run that was made in this kernel; return label -> number.

    `step`: the optimizer step whose batch the view `batch` shows. Raises UserError for an unknown view.
    """
    views.view(name)
    return show(name, views.measure(run, [name], **({} if step is None else {"step": step}))[name])


def show(name: str, reading: Reading) -> dict[str, Any]:
    """Print a view, with its picture if there is a front end; return label -> number."""
    print(shown.text(name, reading))
    if not headless():
        from bugzoo import lab

        figure = shown.figure(name, reading)
        if figure is not None:
            lab.picture(figure)  # as PNG: a kernel without pyplot shows a figure as its repr
    return shown.seen(name, reading)
