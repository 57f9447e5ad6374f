"""The map as text and as HTML in the notebook's own colors, for the light and the dark theme."""

from collections.abc import Sequence

from bugzoo.start.standing import Tile, next_step
from bugzoo.start.ways import SYMPTOMS, WAYS
from bugzoo.templates import render

STATES = {"done": "done", "begun": "begun", "open": "not begun", "later": "comes later"}
"""State of a lesson -> its name, whose color the legend shows."""
DONE = "Done: you handed in the lesson's last case, “Your turn, against the clock”."
SIGNS = "✓ passed, … tried, ○ open"
"""Sign of an exercise, and what it means."""
SCROLL = """<script>
setTimeout(() => document.querySelector(".bugzoo-map .next")?.scrollIntoView({block: "center"}), 300)
</script>"""
"""Shift+Enter scrolls on to the next cell, as the map is not there yet. So the map scrolls back to the next step."""


def as_html(tiles: Sequence[Tile], way: str) -> str:
    """Return the map: what is next, the legend, a tile for each lesson, and the symptoms."""
    return _fill("map.html.j2", tiles, way)


def as_text(tiles: Sequence[Tile], way: str) -> str:
    """Return the map for a front end without widgets."""
    return _fill("map.txt.j2", tiles, way)


def _fill(template: str, tiles: Sequence[Tile], way: str) -> str:
    named = sum(exercise.from_the_run for tile in tiles for exercise in tile.exercises)
    seen = f" Named from the run alone, before the code was opened: {named}." if named else ""
    return render(
        "bugzoo.start", template, tiles=tiles, next=next_step(list(tiles), way), states=STATES, done=DONE, signs=SIGNS, seen=seen,
        lessons={tile.number: tile.link for tile in tiles if tile.link}, symptoms=SYMPTOMS, ways=WAYS,
    )  # fmt: skip
