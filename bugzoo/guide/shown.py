"""How the map looks: as HTML in a notebook, and as text in a terminal and wherever nobody looks. Both say the same."""

import html
import textwrap
from posixpath import relpath

from bugzoo.guide.done import NOT_COUNTED, Standing
from bugzoo.guide.plans import Part, Step, Way, units

HERE = "notebooks"
"""The folder of the map: links are relative to it."""

STYLE = """<style>
.bugzoo-map { color: var(--jp-ui-font-color1, inherit); line-height: 1.5; max-width: 860px; }
.bugzoo-map table { border-collapse: collapse; margin: 4px 0 8px 0; width: 100%; table-layout: auto; }
.bugzoo-map td, .bugzoo-map th { text-align: left !important; padding: 2px 10px 2px 4px; vertical-align: top;
  color: inherit; border-bottom: 1px solid var(--jp-border-color2, #8884); }
.bugzoo-map td.number { text-align: right !important; white-space: nowrap; }
.bugzoo-map tr.next td { font-weight: bold; }
.bugzoo-map .next-step { border-left: 4px solid var(--jp-brand-color1, #2196f3); padding: 4px 10px; margin: 6px 0; }
.bugzoo-map summary { cursor: pointer; }
</style>"""

NOTHING_LEFT = "All of this way is done. Choose another one, or practise: bugzoo cards, bugzoo interview."


def duration(minutes: float) -> str:
    """`45 min`, `2 h 10 min`; to five minutes where it is long."""
    if minutes < 60:
        return f"{max(1, round(minutes))} min"
    hours, rest = divmod(5 * round(minutes / 5), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def state(step: Step) -> str:
    """`done`, `12 of 19`, or how it stands in a word."""
    return step.told if step.told and step.state == "begun" else "" if step.state == NOT_COUNTED else step.state


def reached(way: Way) -> str:
    """How far one is on a way: of the steps that are counted."""
    if way.open:
        return f"About {length(way)} for the instruments; the lessons are there for what you see"
    return f"{sum(part.done for part in way.parts)} of {len(way.counted)} steps done, about {length(way)} in all"


def length(way: Way) -> str:
    """Of all of it; of one that ends where the run is well, of its first part."""
    return duration(way.parts[0].minutes if way.open else way.minutes)


def summary(now: Standing) -> list[str]:
    """What was done so far, a line for each kind."""

    def count(what: str, many: int, states: list[str]) -> str:
        return f"{what}: {states.count('done')} of {many} done" + (
            f", {states.count('begun')} begun" if "begun" in states else ""
        )

    lines = [
        count("Lessons", len(now.lessons), [one.state for one in now.lessons]),
        count("Exercises", len(now.exercises), [one.state for one in now.exercises]),
    ]
    right, said = (sum(column) for column in zip((0, 0), *now.cards.values(), strict=True))
    if said:
        families = ", ".join(f"{family} {good} of {many}" for family, (good, many) in now.cards.items())
        lines.append(f"Cards: {said} answered, {right / said:.0%} right ({families})")
    else:
        lines.append("Cards: none answered")
    best = "" if now.best is None else f", the best {now.best:.0%} of the points"
    lines.append(f"Interviews: {len(now.interviews) or 'none'} sat through{best}")
    return lines


# ---- text


def text(way: Way, now: Standing, full: bool = False) -> str:
    """The way and what is done. Parts other than the one where one stands are a line each, unless `full`."""
    lines = [f"{way.title}: {way.about}", f"{reached(way)}.", "", f"Next: {said(way.next)}", ""]
    here = _current(way)
    for part in way.parts:
        lines.append(_heading(part))
        if full or part is here:
            lines += [_line(step, step is way.next) for step in part.steps]
    return "\n".join([*lines, "", "So far", *(f"  {line}" for row in summary(now) for line in _folded(row))])


def said(step: Step | None) -> str:
    """The next step in a sentence, with what to open or to type."""
    if step is None:
        return NOTHING_LEFT
    where = " or ".join(filter(None, [step.link.partition("#")[0], step.command and f"`{step.command}`"]))
    begun = f", go on ({step.told})" if step.state == "begun" else ""
    return f"{step.title}{begun}, about {duration(step.minutes)}: {where}"


def _heading(part: Part) -> str:
    done = f", {part.done} of {len(part.counted)} done" if part.counted else ""
    return f"{part.title}, {duration(part.minutes)}{done}"


def _current(way: Way) -> Part | None:
    return next((part for part in way.parts if way.next in part.steps), None)


def _line(step: Step, following: bool) -> str:
    return f"  {'>' if following else ' '} {state(step):<10.24} {duration(step.minutes):>10}  {step.title}".rstrip()


def _folded(row: str) -> list[str]:
    return textwrap.wrap(row, 100, subsequent_indent="    ")


# ---- HTML


def page(way: Way, now: Standing) -> str:
    """The same as HTML: the part where one stands is open, the others open by a click."""
    begin = f"<b>{html.escape(way.title)}.</b> {html.escape(way.about)}<br>{html.escape(reached(way))}."
    parts = [_part(part, way, part is _current(way)) for part in way.parts]
    told = "".join(f"{html.escape(line)}<br>" for line in summary(now))
    return (
        f'{STYLE}<div class="bugzoo-map">{begin}<div class="next-step"><b>Next:</b> {_next(way.next)}</div>'
        f"{''.join(parts)}<p><b>So far</b><br>{told}</p>{_lessons(now)}</div>"
    )


def _next(step: Step | None) -> str:
    if step is None:
        return html.escape(NOTHING_LEFT)
    begun = f", go on ({html.escape(step.told)})" if step.state == "begun" else ""
    command = f": <code>{html.escape(step.command)}</code>" if step.command else ""
    return f"{_link(step.title, step.link)}{begun}, about {duration(step.minutes)}{command}"


def _part(part: Part, way: Way, here: bool) -> str:
    rows = "".join(_row(step, step is way.next) for step in part.steps)
    heading = f"<summary>{html.escape(_heading(part))}</summary>"
    return f"<details{' open' if here else ''}>{heading}<table>{rows}</table></details>"


def _row(step: Step, following: bool) -> str:
    command = f" <code>{html.escape(step.command)}</code>" if step.command else ""
    told = "next" if following and step.state != "begun" else state(step)
    cells = (f"<td>{_link(step.title, step.link)}{command}</td>", f'<td class="number">{duration(step.minutes)}</td>')
    marked = ' class="next"' if following else ""
    return f"<tr{marked}>{''.join(cells)}<td>{html.escape(told)}</td></tr>"


def _lessons(now: Standing) -> str:
    """Every lesson with its exercises, one row each."""
    rows = []
    for unit in units(now):
        one = unit.lesson
        title = _link(f"{one.number:02} · {one.title}", one.link) if one else f"{unit.number:02}"
        told = (f"{one.done} of {one.of}" if one.state == "begun" else one.state) if one else "no lesson yet"
        mine = ", ".join(f"{_link(task.number, task.link)} {task.state}" for task in unit.exercises)
        minutes = duration(one.minutes) if one else ""
        rows.append(f'<tr><td>{title}</td><td class="number">{minutes}</td><td>{told}</td><td>{mine}</td></tr>')
    heads = "<tr><th>Lesson</th><th>about</th><th>questions and tasks</th><th>exercises</th></tr>"
    return (
        f"<details><summary>Every lesson, with its exercises</summary><table>{heads}{''.join(rows)}</table></details>"
    )


def _link(title: str, link: str) -> str:
    if not link:
        return html.escape(title)
    path, hash_, place = link.partition("#")
    here = path == f"{HERE}/00_start_here.ipynb"
    return f'<a href="{html.escape(("" if here else relpath(path, HERE)) + hash_ + place)}">{html.escape(title)}</a>'
