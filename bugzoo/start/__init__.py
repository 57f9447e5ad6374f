"""The map of the course, which `bugzoo lab` opens first: where you stand, and what is next.

from bugzoo.start import here

here()
"""

from typing import Any

from bugzoo import record
from bugzoo.errors import unknown
from bugzoo.frontend import headless
from bugzoo.start import page
from bugzoo.start.standing import tiles
from bugzoo.start.ways import WAYS

__all__ = ["here"]


def here(who: str = "") -> None:
    """Show the map. `who` sets the way: new, work, interview or teach; it is kept. Raises UserError for another."""
    if who and who not in WAYS:
        raise unknown("way", who, WAYS, "here()")
    way = who or str((record.kept("way", "map") or {}).get("who", ""))
    way = way if way in WAYS else "new"
    if who:
        record.keep("way", "map", {"who": who})
    if headless():
        print(page.as_text(tiles(), way))
        return
    from IPython.display import display

    _Map(way, display)


class _Map:
    """The choice of a way, and the map below it, which follows the choice."""

    def __init__(self, way: str, display: Any) -> None:
        import ipywidgets as w

        from bugzoo.lab import page as widgets

        self.chosen = w.ToggleButtons(options=[(option.label, key) for key, option in WAYS.items()], value=way)
        self.chosen.style.button_width = "195px"
        self.chosen.observe(self._chose, "value")
        widgets.put(widgets.form([widgets.ask("Who are you?"), self.chosen]))
        # an output of its own and no widget: JupyterLab follows links to notebooks only there
        first = self._bundle(way)
        first["text/html"] += page.SCROLL
        self.shown = display(first, raw=True, display_id=True)

    def _chose(self, change: Any) -> None:
        record.keep("way", "map", {"who": change["new"]})
        self.shown.update(self._bundle(change["new"]), raw=True)

    def _bundle(self, way: str) -> dict[str, str]:
        lessons = tiles()
        return {"text/html": page.as_html(lessons, way), "text/plain": page.as_text(lessons, way)}
