"""The likeness of hand-ins as a page: a table of pairs, and of those to look at the two changes side by side."""

import difflib
from collections.abc import Iterator

from bugzoo.instructor.course.likeness import LEAST, Pair, Report, Work
from bugzoo.instructor.course.page import table, text, whole

MOST = 50
"""Pairs whose changes are drawn; the table has more."""
ROWS = 500
AROUND = 2
NOTE = (
    "A pair is one to look at, and no verdict: two who know the same way come to the same repair. A change weighs the more "
    "the fewer have it; names, comments and layout change nothing."
)


def few(report: Report) -> str:
    """The sentence for a class too small to tell what is rare; empty for another."""
    if not report.few:
        return ""
    return (
        f"{len(report.works)} hand-ins changed something. With fewer than {LEAST} nobody can say what is rare, so that "
        "pairs are named for their files only."
    )


def page(report: Report, title: str) -> str:
    """The whole page."""
    looked_at = report.looked_at
    body = [f"<h1>Likeness between hand-ins: {text(title)}</h1>", f'<p class="soft">{text(NOTE)}</p>']
    body.append(f"<p>{len(report.works)} hand-ins with a change, {len(looked_at)} pairs to look at.</p>")
    if few(report):
        body.append(f"<p>{text(few(report))}</p>")
    rows = [
        (pair.one, pair.other, f"{pair.alike:.0%}", pair.common, pair.rare, said(pair)) for pair in report.pairs[:ROWS]
    ]
    if rows:
        body.append(table(("one", "other", "alike", "changes in common", "of them rare", ""), rows, (2, 3, 4)))
    if report.alone:
        body.append("<h2>By themselves</h2>")
        body.append(table(("student", ""), [(name, "; ".join(why)) for name, why in sorted(report.alone.items())]))
    if report.left:
        body.append("<h2>Not compared</h2>")
        body.append(table(("student", "why"), sorted(report.left.items())))
    for pair in looked_at[:MOST]:
        body += _beside(pair, report)
    if len(looked_at) > MOST:
        body.append(f"<p>{len(looked_at) - MOST} more pairs to look at are not drawn.</p>")
    return whole(f"Likeness: {title}", body)


def said(pair: Pair) -> str:
    """What stands behind a pair in the table."""
    return "; ".join((*(("to look at",) if pair.look else ()), *pair.flags))


def _beside(pair: Pair, report: Report) -> Iterator[str]:
    yield f'<h2 class="look">{text(pair.one)} and {text(pair.other)}: {pair.alike:.0%} alike</h2>'
    if pair.flags:
        yield f"<p>{text('; '.join(pair.flags))}.</p>"
    sides = [_side(name, report.works.get(name), report) for name in (pair.one, pair.other)]
    yield f'<div class="sides">{"".join(sides)}</div>'


def _side(name: str, work: Work | None, report: Report) -> str:
    if work is None:
        return f"<div><p><b>{text(name)}</b></p><p>{text(report.left.get(name, 'no hand-in'))}</p></div>"
    lines = list(difflib.unified_diff(work.given.splitlines(), work.text.splitlines(), n=AROUND, lineterm=""))[2:]
    kinds = {"+": "came", "-": "went", "@": "at"}
    shown = "".join(f'<span class="{kinds.get(line[:1], "")}">{text(line) or " "}</span>' for line in lines)
    return f"<div><p><b>{text(name)}</b></p><pre>{shown}</pre></div>"
