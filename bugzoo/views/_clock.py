"""Views within time limits, as `bugzoo.diagnostics._clock` limits instruments.

Job(..., after=f"{__name__}:120:150", after_args={"names": ["weights"]})
"""

from functools import partial
from typing import Any

from bugzoo.diagnostics import ready
from bugzoo.diagnostics._clock import Clock, limits
from bugzoo.running import Reading, Run
from bugzoo.views import measure

__all__ = ["ready"]


def __getattr__(name: str) -> Any:
    """`look` with the limits in a name such as "120:150", for the script and in total. The clock starts now."""
    clock, total = limits(name)
    return partial(look, clock=clock, seconds=total)


def look(run: Run, names: list[str], clock: Clock, seconds: float) -> dict[str, Reading]:
    """Return the readings of views. Each part of them ends when the clock shows `seconds`."""
    until, _ = clock.close(run, seconds)
    return measure(run, names, partial(clock.within, until=until, what="this measurement"))
