"""What a notebook shows: live runs, things to break, questions, hints, a diagnosis to fill in.

    from bugzoo import lab
    view = lab.live(scenario)        # a training run in a thread of this kernel: Run, Pause, Stop
    view.result                      # waits for it

Everything degrades to text where nobody looks: under nbgrader, nbclient, nbval or in a plain script.
"""

from typing import Any

from bugzoo.lab.panel import Panel
from bugzoo.lab.view import LiveView
from bugzoo.scenario import Scenario

__all__ = ["LiveView", "Panel", "break_it", "live"]


def live(what: Scenario | str, **options: Any) -> LiveView:
    """Show a run and start it. Options as in `LiveView`."""
    return LiveView(what, **options).show().start()


def break_it(scenario: Scenario, **options: Any) -> Panel:
    """Show the break-it panel of a scenario; its Run button starts. Options as in `Panel`."""
    return Panel(scenario, **options).show()
