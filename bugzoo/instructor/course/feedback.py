"""A student's own page: points, what each check saw, the findings' marks, what policy and instructor did, and the picture.

Without the answers it says what the grader's texts say to a student anyway, and no more: what is wrong, where, and how it is
repaired stands in it with `reveal` only. Whatever a submission wrote is escaped.
"""

import difflib
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bugzoo.instructor.course.page import table, text, whole
from bugzoo.instructor.records import Record

if TYPE_CHECKING:  # it takes torch, which the server of a class goes without
    from bugzoo.instructor.key import Answer

ENDS = {
    "finished": "came to its end",
    "crashed": "ended with an error",
    "non_finite": "came to its end, with losses that are not finite",
    "timed_out": "was ended when its time was over",
    "hung": "stood still and was ended",
    "out_of_memory": "was ended for its memory",
}
FAILED = "the grader failed"
"""How the message begins that tells of the grader's own failure; what it holds besides is for the instructor."""


def page(
    record: Record,
    title: str,
    picture: str = "",
    answers: Sequence["Answer"] = (),
    texts: tuple[str, str] | None = None,
    words: str = "",
) -> str:
    """The whole page. `picture` is SVG of ours. `answers` and `texts` (handed out, healthy) are given to reveal them.
    `words` are the instructor's own.
    """
    points = "no score" if record.points is None else f"{record.points:g} of {record.max_points:g} points"
    body = [f"<h1>{text(title)}</h1>", f"<p><b>{text(record.student)}</b>: {text(record.state)}, {points}.</p>"]
    if record.message and not record.repair:
        message = FAILED if record.message.startswith(FAILED) else record.message
        body.append(f"<p>{text(message)}</p>")
    body += _points(record)
    if said := [line for line in words.splitlines() if line.strip()]:
        body += ["<h2>From your instructor</h2>", *(f"<p>{text(line)}</p>" for line in said)]
    for name, part in (("Your repair", record.repair), ("Your diagnosis", record.diagnosis)):
        body += _part(name, part) if part else []
    if picture:
        body += ["<h2>Your run beside the healthy one</h2>", picture]
    if answers:
        body += _answers(answers, texts)
    return whole(f"{title}: {record.student}", body)


def _points(record: Record) -> Iterator[str]:
    parts = [("repair", record.repair), ("diagnosis", record.diagnosis)]
    rows = [(name, f"{part['points']:g}", f"{part['max_points']:g}") for name, part in parts if part]
    if rows:
        yield table(("", "points", "of"), rows, (1, 2))
    if record.timestamp and record.clock != "file":
        due = f" Due: {text(record.due)}." if record.due else ""
        yield f'<p class="soft">Handed in: {text(record.timestamp)}.{due}</p>'
    for change in record.changes:
        yield f"<p>{text(change)}.</p>"
    if record.changes and record.points is not None:
        yield f"<p><b>What counts: {record.points:g} of {record.max_points:g}.</b></p>"


def _part(name: str, part: Mapping[str, Any]) -> Iterator[str]:
    """The checks as the notebook's own cell prints them."""
    yield f"<h2>{name}: {text(part.get('status', ''))}</h2>"
    if part.get("message"):
        yield f"<p>{text(part['message'])}</p>"
    rows = []
    for check in part.get("checks", []):
        good = check["status"] == "passed"
        mark = "ok" if good else "NO"
        rows.append((mark, check["name"], check["saw"], "" if good else check.get("expected", "")))
    if rows:
        yield table(("", "check", "what it saw", "what passes"), rows)


def _answers(answers: Sequence["Answer"], texts: tuple[str, str] | None) -> Iterator[str]:
    yield "<h2>What was wrong</h2>"
    for one in answers:
        places = ", ".join(f"{first}" if first == last else f"{first} to {last}" for first, last in one.places)
        yield f"<p><b>{text(one.title)}</b> ({text(one.cause)}; line {text(places or 'none')}).</p>"
        yield from (f"<p>{text(part)}</p>" for part in (one.why, one.fix) if part)
        if one.evidence:
            yield f'<p class="soft">Instruments that show it: {text(", ".join(one.evidence))}.</p>'
    if texts:
        lines = list(difflib.unified_diff(texts[0].splitlines(), texts[1].splitlines(), n=2, lineterm=""))[2:]
        kinds = {"+": "came", "-": "went", "@": "at"}
        shown = "".join(f'<span class="{kinds.get(line[:1], "")}">{text(line) or " "}</span>' for line in lines)
        yield f"<p>One way to repair it:</p><pre>{shown}</pre>"


def picture(own: Mapping[str, Any] | None, healthy: Mapping[str, Any] | None) -> str:
    """Both runs as SVG within the page, with a sentence below; a sentence alone where there is nothing to draw."""
    if own is None or own["outcome"] == "not run":
        return "<p>There is no picture: the program was not run.</p>"
    said = f"Your run {ENDS.get(own['outcome'], 'ended early')}, after {len(own['losses'])} steps."
    if own.get("first"):
        said += f" The first loss that is not finite is that of step {own['first']}."
    if not own["losses"] and not healthy:
        return f"<p>{text(said)}</p>"
    try:
        svg = _svg(own, healthy)
    except Exception:  # any number may stand in a hand-in's curve; a page without its picture is still worth reading
        return f"<p>{text(said)} Its numbers cannot be drawn.</p>"
    label = "Loss and gradient norm over the steps: vermilion is your run, blue the healthy one."
    return f'<figure role="img" aria-label="{label}">{svg}<figcaption>{text(said)} {label}</figcaption></figure>'


def _svg(own: Mapping[str, Any], healthy: Mapping[str, Any] | None) -> str:
    import matplotlib

    from bugzoo.plots import comparison
    from bugzoo.plots._style import GREY, see_through

    numbers = {
        "broken": {name: [_drawable(value) for value in own[name]] for name in ("losses", "grad_norms")},
        "healthy": healthy,
        "first_non_finite": None,
    }
    # the same numbers give the same bytes, and letters stay letters: whoever reads with the ears has them as well
    with matplotlib.rc_context({"svg.hashsalt": "bugzoo", "svg.fonttype": "none"}):
        figure = see_through(comparison.picture(numbers, ink=GREY, names=("your run", "healthy")))
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    found = drawn.getvalue()
    return re.sub(r"\s*<metadata>.*?</metadata>", "", found[found.index("<svg") :], flags=re.DOTALL)


def _drawable(value: float) -> float:
    """Numbers beyond all measure would leave nothing else to see."""
    return value if math.isfinite(value) and abs(value) < 1e30 else math.nan
