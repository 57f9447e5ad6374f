"""Several candidates of one hunt side by side, as one HTML file: scores, timelines of saves and checks, what changed when.

Nothing is fetched from elsewhere; what a candidate wrote is escaped. Without `answers` it holds no name of a bug and no line of
the solution, and can be given to the candidate.
"""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

from bugzoo.interview.hunt import desk
from bugzoo.interview.hunt.case import Case
from bugzoo.interview.hunt.score import Score
from bugzoo.interview.hunt.sitting import told

MOST_LINES = 200
"""Lines of one difference that are shown."""
MOST_SAVES = 60
WIDTH = 640

_PAGE = Environment(
    loader=PackageLoader("bugzoo.interview.hunt", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
)


def page(case: Case, scores: Sequence[Score], folders: Sequence[Path], *, answers: bool = True) -> str:
    """The page; `answers` names the bugs, for the interviewer."""
    names = [row.name for row in scores[0].rows if row.name != "note"]
    names += [
        name
        for name in ("hints", "note")
        if any(row.name == name for one in scores for row in one.rows) and name not in names
    ]
    rows = [{"name": name, "cells": [_cell(one, name, answers) for one in scores]} for name in names]
    rows.append({"name": "together", "cells": [(f"{one.points:g} of {one.of:g}", "") for one in scores]})
    people = [_person(case, one, folder, answers) for one, folder in zip(scores, folders, strict=True)]
    about = {
        "ticket": case.ticket,
        "minutes": case.minutes,
        "level": case.level,
        "bugs": len(case.recipe.ids),
        "hash": case.hash[:12],
    }
    return _PAGE.get_template("report.html").render(about | {"rows": rows, "people": people, "width": WIDTH})


def _cell(one: Score, name: str, answers: bool) -> tuple[str, str]:
    row = next((row for row in one.rows if row.name == name), None)
    if row is None:
        return "", ""
    points = "open" if row.points is None else f"{row.points:g} of {row.of:g}" if row.of else f"{row.points:g}"
    why = row.why if answers or name not in ("repaired", "nothing new broken") else row.why.split(";")[0]
    return points, why


def _person(case: Case, one: Score, folder: Path, answers: bool) -> dict[str, Any]:
    whole = 60.0 * case.minutes
    marks = [
        {
            "kind": event["event"],
            "x": round(10 + WIDTH * min(event["at"] / whole, 1.0), 1),
            "at": _clock(event["at"]),
            "passed": event.get("passed"),
        }
        for event in one.events
        if event["event"] in ("save", "check")
    ]
    saves = [event for event in one.events if event["event"] == "save"]
    return {
        "name": one.candidate or folder.name,
        "marks": marks,
        "saves": len(saves),
        "findings": [{"text": f["text"], "means": f["means"] if answers else ""} for f in one.findings],
        "changes": _changes(folder, saves),
    }


def _changes(folder: Path, saves: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each save beside the one before it; of very many those at the end."""
    found = []
    texts = [_text(folder, event.get("commit", "")) for event in saves[-MOST_SAVES - 1 :]]
    for event, before, after in zip(saves[-MOST_SAVES - 1 :][1:], texts, texts[1:], strict=False):
        lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[
            2 : MOST_LINES + 2
        ]
        if lines:
            kinds = {"+": "add", "-": "del"}
            added, taken = (sum(line[:1] == sign for line in lines) for sign in "+-")
            shown = [(kinds.get(line[:1], ""), line) for line in lines]
            found.append({"at": _clock(event["at"]), "what": f"{added} lines in, {taken} out", "lines": shown})
    return found


def _text(folder: Path, commit: str) -> str:
    try:
        with told():
            return desk.git(folder, "show", f"{commit}:{desk.SCRIPT}").stdout
    except Exception:  # a save without the script
        return ""


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}"
