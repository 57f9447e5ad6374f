"""The graded cell of a line-up, and what is told at its end."""

import difflib
from typing import Any

from bugzoo import record
from bugzoo.frontend import headless
from bugzoo.grading import cell
from bugzoo.grading.grade import tidy
from bugzoo.grading.lineup import load
from bugzoo.grading.lineup.model import NONE, Lineup
from bugzoo.grading.model import Result
from bugzoo.syntax import source_lines

MODULE = "bugzoo.grading.lineup"


def graded(name: str, filled: dict[str, Any] | None) -> float:
    """Ask the grading process, say what came of it, note the attempt; the points."""
    lineup = load(name)
    given = filled or record.diagnosis(lineup.ticket)
    result: Result = cell.ask(lineup.name, {"diagnosis": given}, module=MODULE)
    cell.say(result)
    record.attempt(lineup.name, "run", result.status, result.points, result.max_points)
    return cell.worth(result.points)


def debrief(name: str) -> None:
    """Print or display what each run was."""
    lineup = load(name)
    if not record.diagnosis(lineup.ticket):
        print("It opens when an answer is handed in.")
        return
    if headless():
        print(text(lineup))
        return
    from IPython.display import Markdown, display

    display(Markdown(text(lineup)))


def text(lineup: Lineup) -> str:
    """Markdown: the ill run with its lines and why, then the others, each with what made it look odd."""
    parts = []
    if lineup.ill == NONE:
        parts.append("**Nothing is wrong** with any of them.")
    for letter, one in sorted(lineup.runs.items(), key=lambda pair: not pair[1].ill):
        about = one.about_fault
        if one.ill and about:
            fault = about[0]
            before, after = source_lines(tidy(one.scenario.base)), source_lines(tidy(one.scenario.source))
            lines = [
                line
                for line in difflib.unified_diff(before, after, n=0, lineterm="")
                if not line.startswith(("---", "+++", "@@"))
            ]
            changed = "\n".join(lines)
            parts.append(
                f"### {letter}: {fault.title}\n\n{fault.why}\n\n```diff\n{changed}\n```\n\n**Repair.** {fault.fix}"
            )
        else:
            why = about[0].why if about else ""
            parts.append(f"**{letter} is well.** {one.note or why}")
    return "\n\n".join(parts)
