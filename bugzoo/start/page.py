"""The map as text and as HTML in the notebook's own colors, for the light and the dark theme."""

import html
from collections.abc import Sequence

from bugzoo.start.standing import Tile, next_step
from bugzoo.start.ways import SYMPTOMS, WAYS

STYLE = """<style>
.bugzoo-map { font-family: var(--jp-ui-font-family, sans-serif); font-size: 14px; color: var(--jp-ui-font-color1, inherit); }
.bugzoo-map a { color: var(--jp-content-link-color, #1976d2); text-decoration: none; }
.bugzoo-map .next a { display: inline-block; padding: 8px 14px; margin: 4px 0 12px 0; font-weight: bold;
  border: 2px solid var(--jp-brand-color1, #1976d2); border-radius: 4px; }
.bugzoo-map .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 10px; }
.bugzoo-map .tile { border: 1px solid var(--jp-border-color1, #8888); border-radius: 4px; padding: 8px 10px; }
.bugzoo-map .tile.done { border-left: 5px solid #2b9f5e; }
.bugzoo-map .tile.begun { border-left: 5px solid #e69f00; }
.bugzoo-map .title { font-weight: bold; }
.bugzoo-map .small { font-size: 12.5px; opacity: 0.85; line-height: 1.6; }
.bugzoo-map td { padding: 2px 18px 2px 0; text-align: left !important; }
</style>"""


def as_html(found: Sequence[Tile], way: str) -> str:
    """Return the map: what is next, a tile for each lesson, and the symptoms."""
    what, link = next_step(list(found), way)
    tiles = "".join(_tile(one) for one in found)
    return (
        f'{STYLE}<div class="bugzoo-map"><div class="next">{_a(link, f"Next: {what}")}</div><div class="tiles">{tiles}</div>'
        f"{_symptoms(found)}</div>"
    )


def _tile(tile: Tile) -> str:
    state = "done" if tile.tasks and tile.done else "begun" if tile.begun else ""
    practice = "<br>".join(
        f"{'✓' if one.passed else '…' if one.tried else '○'} {_a(one.link, f'{one.name[:2]} {one.title}')}"
        for one in tile.exercises
    )
    title = _a(tile.link, _title(tile)) if tile.link else html.escape(tile.title)
    counts = f"{_counts(tile)}<br>" if tile.tasks else ""
    return (
        f'<div class="tile {state}"><div class="title">{title}</div><div class="small">{counts}{practice}</div></div>'
    )


def _title(tile: Tile) -> str:
    return f"{tile.number} · {tile.title}" if tile.number else tile.title


def _counts(tile: Tile) -> str:
    return f"{tile.answered} of {tile.questions} questions, {tile.held} of {tile.tasks} tasks"


def _symptoms(found: Sequence[Tile]) -> str:
    known = {tile.number: tile for tile in found}
    rows = "".join(
        f"<tr><td>{html.escape(what)}</td><td>look at the view <code>{view}</code></td>"
        f"<td>{_a(known[number].link, f'lesson {number}') if number and number in known else ''}</td></tr>"
        for what, number, view in SYMPTOMS
    )
    return f"<details><summary><b>I have a symptom</b></summary><table>{rows}</table></details>"


def _a(link: str, text: str) -> str:
    return f'<a href="{html.escape(link)}">{html.escape(text)}</a>'


def as_text(found: Sequence[Tile], way: str) -> str:
    """Return the map for a front end without widgets."""
    what, link = next_step(list(found), way)
    lines = [f"Next: {what} ({link})", ""]
    for tile in found:
        lines.append(f"{_title(tile)}: {_counts(tile)}" if tile.tasks else tile.title)
        for one in tile.exercises:
            state = "passed" if one.passed else "tried" if one.tried else "open"
            lines.append(f"    {one.name[:2]} {one.title}: {state}")
    lines += ["", "I have a symptom:"]
    numbers = {tile.number for tile in found if tile.number}
    for symptom, number, view in SYMPTOMS:
        lines.append(f"  {symptom}: look at {view}" + (f", lesson {number}" if number in numbers else ""))
    lines += ["", f"Other ways: here(who=...), one of {', '.join(WAYS)}."]
    return "\n".join(lines)
