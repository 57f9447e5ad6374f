"""The map as text and as HTML in the notebook's own colors, for the light and the dark theme."""

import html
from collections.abc import Sequence

from bugzoo.start.standing import Practice, Tile, next_step
from bugzoo.start.ways import SYMPTOMS, WAYS

STYLE = """<style>
.bugzoo-map { font-family: var(--jp-ui-font-family, sans-serif); font-size: 14px; color: var(--jp-ui-font-color1, inherit); }
.bugzoo-map a { color: var(--jp-content-link-color, #1976d2); text-decoration: none; }
.bugzoo-map .next a { display: inline-block; padding: 8px 14px; margin: 4px 0 12px 0; font-weight: bold;
  border: 2px solid var(--jp-brand-color1, #1976d2); border-radius: 4px; }
.bugzoo-map .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 10px; }
.bugzoo-map .tile, .bugzoo-map .mark { border: 1px solid var(--jp-border-color1, #8888); border-radius: 4px; padding: 8px 10px; }
.bugzoo-map .mark { padding: 0 6px; margin-right: 6px; white-space: nowrap; }
.bugzoo-map .done { border-left: 5px solid #2b9f5e; }
.bugzoo-map .begun { border-left: 5px solid #e69f00; }
.bugzoo-map .later { border-style: dashed; color: var(--jp-ui-font-color2, #757575); }
.bugzoo-map .title { font-weight: bold; }
.bugzoo-map .later .title { font-weight: normal; font-size: 13px; }
.bugzoo-map .small { font-size: 12.5px; opacity: 0.85; line-height: 1.6; }
.bugzoo-map .later .small, .bugzoo-map .legend { opacity: 1; }
.bugzoo-map .tiles.gray { margin: 10px 0; }
.bugzoo-map .gray .tile { padding: 4px 10px; }
.bugzoo-map .practice { padding-left: 16px; text-indent: -16px; }
.bugzoo-map .effort { display: block; text-indent: 0; }
.bugzoo-map .legend { margin-bottom: 8px; color: var(--jp-ui-font-color2, #757575); }
.bugzoo-map td { padding: 2px 18px 2px 0; text-align: left !important; }
</style>"""


STATES = {"done": "done", "begun": "begun", "open": "not begun", "later": "comes later"}
"""State of a lesson -> its name, whose color the legend shows."""
DONE = "Done: you handed in the lesson's last case, “Your turn, against the clock”."
SIGNS = {"✓": "passed", "…": "tried", "○": "open"}
"""Sign of an exercise -> what it means."""


def as_html(found: Sequence[Tile], way: str) -> str:
    """Return the map: what is next, the legend, a tile for each lesson, and the symptoms."""
    what, link = next_step(list(found), way)
    there, later = ("".join(_tile(one) for one in found if (one.state == "later") == gray) for gray in (False, True))
    return (
        f'{STYLE}<div class="bugzoo-map"><div class="next">{_a(link, f"Next: {what}")}</div>{_legend()}'
        f'<div class="tiles">{there}</div><div class="tiles gray">{later}</div>{_symptoms(found)}</div>'
    )


def _tile(tile: Tile) -> str:
    practice = "".join(
        f'<div class="practice">{_sign(one)} {_a(one.link, f"{one.name[:2]} {one.title}")} '
        f'<span class="effort">{_effort(one)}</span></div>'
        for one in tile.exercises
    )
    title = _a(tile.link, _title(tile)) if tile.link else html.escape(_title(tile))
    below = f"{_counts(tile)}{practice}"
    return f'<div class="tile {tile.state}"><div class="title">{title}</div><div class="small">{below}</div></div>'


def _legend() -> str:
    marks = "".join(f'<span class="mark {state}">{text}</span>' for state, text in STATES.items())
    return f'<div class="legend small">{marks} {DONE} Exercises: {_signs()}.</div>'


def _signs() -> str:
    return ", ".join(f"{sign} {meaning}" for sign, meaning in SIGNS.items())


def _sign(exercise: Practice) -> str:
    return "✓" if exercise.passed else "…" if exercise.tried else "○"


def _effort(exercise: Practice) -> str:
    return f"level {exercise.level}, {exercise.minutes} min"


def _title(tile: Tile) -> str:
    return f"{tile.number} · {tile.title}" if tile.number else tile.title


def _counts(tile: Tile) -> str:
    """Return what stands below a title; nothing for the last tile."""
    if not tile.link:
        return STATES.get(tile.state, "")
    return f"{tile.answered} of {tile.questions} questions, {tile.held} of {tile.tasks} tasks"


def _symptoms(found: Sequence[Tile]) -> str:
    known = {tile.number: tile for tile in found if tile.link}
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
        about = ", ".join(filter(None, (_counts(tile), STATES[tile.state] if tile.link else "")))
        lines.append(f"{_title(tile)}: {about}" if about else _title(tile))
        lines += [f"    {_sign(one)} {one.name[:2]} {one.title} ({_effort(one)})" for one in tile.exercises]
    lines += ["", DONE, f"Exercises: {_signs()}."]
    lines += ["", "I have a symptom:"]
    numbers = {tile.number for tile in found if tile.link}
    for symptom, number, view in SYMPTOMS:
        lines.append(f"  {symptom}: look at {view}" + (f", lesson {number}" if number in numbers else ""))
    lines += ["", f"Other ways: here(who=...), one of {', '.join(WAYS)}."]
    return "\n".join(lines)
