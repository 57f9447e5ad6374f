"""The map in a notebook: a way is chosen by a click or by a call, and its plan stands below."""

import time
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.frontend import headless, kernel
from bugzoo.guide import shown
from bugzoo.guide.done import Standing, nothing_done, standing
from bugzoo.guide.plans import PLANS, Way, current, known, ways

ASKED = "Which way do you take? It is kept, and can be another one tomorrow."


class Map:
    """The map of one way; `str(map)` is its text. In a notebook it is shown with the ways to choose from."""

    def __init__(self, name: str = "") -> None:
        self.now, self.way = _read(name)
        self._page: Any = None

    def choose(self, name: str) -> "Map":
        """Take another way, keep it, and show its plan. Raises UserError with the nearest names."""
        begin(known(name))
        self.now, self.way = _read(name)
        if self._page is not None:
            self._page.update(self._both(), raw=True)
        return self

    def show(self) -> "Map":
        """The ways as buttons and the plan below them; the plan as text where nobody looks."""
        if headless() or kernel() is None:
            print(f'{self}\n\nAnother way: guide.way("NAME"); NAME is {", ".join(PLANS)}')
            return self
        self._buttons()
        from IPython.display import display

        self._page = display(self._both(), raw=True, display_id=f"bugzoo-map-{time.monotonic_ns()}")
        return self

    def _both(self) -> dict[str, str]:
        return {"text/html": shown.page(self.way, self.now), "text/plain": str(self)}

    def _buttons(self) -> None:
        import ipywidgets as w

        from bugzoo.lab import page
        from bugzoo.lab.quiz_widgets import inline, status

        every = ways(self.now)
        options = [(f"{one.title}: about {shown.length(one)}", name) for name, one in every.items()]
        choice = w.RadioButtons(options=options, value=current(self.now) if self.now.way else None)
        choice.observe(lambda event: event["new"] and self.choose(event["new"]), "value")
        box = page.form([w.HTML(status(f"<b>{inline(ASKED)}</b>")), choice])
        box.add_class("bugzoo-check")
        page.keep(page.put(box), "Run this cell to choose a way.")

    def __str__(self) -> str:
        return shown.text(self.way, self.now)

    def __repr__(self) -> str:
        return f"<the map: {self.way.title}, {shown.reached(self.way)}>"

    def __dir__(self) -> list[str]:
        return ["choose", "now", "show", "way"]


def show(name: str = "") -> Map:
    """Show the map: the way that is followed, or the one that is named without taking it. Raises UserError."""
    return Map(name).show()


def way(name: str) -> Map:
    """Take a way, `course`, `weekend`, `hour` or `mine`: the record keeps it. Raises UserError with the nearest names."""
    begin(known(name))
    return Map(name).show()


def begin(name: str) -> bool:
    """Keep the choice. The same one again changes nothing, unless all of it is done: then it begins anew."""
    now, chosen = _read(name)
    if now.way == name and chosen.next is not None:
        return True
    return record.keep("way", "chosen", {"name": name, "since": time.time()})


def seen() -> int:
    """How many cards were answered so far: as a seed it deals others each time."""
    return len(_read("")[0].answered)


def _read(name: str) -> tuple[Standing, Way]:
    """What stands in the record, and a way. One that cannot be read is said once, and is as empty."""
    if name:
        known(name)
    try:
        now = standing()
    except UserError as error:
        record.remark(error)
        now = nothing_done()
    return now, ways(now)[name or current(now)]
