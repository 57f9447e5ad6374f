"""The graded cell of an exercise in which something is to be broken, and what is told at its end."""

import difflib
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.frontend import fit, headless
from bugzoo.grading import cell
from bugzoo.grading.breaking import load
from bugzoo.grading.breaking.judge import handed_out, solution
from bugzoo.grading.breaking.model import Breaking
from bugzoo.grading.declared import everything
from bugzoo.syntax import source_lines

MODULE = "bugzoo.grading.breaking"


def graded(name: str, program: Any = None) -> float:
    """Ask the grading process, say what came of it, note the attempt; the points."""
    task = load(name)
    program = cell.of_notebook("program") if program is None else program
    if program is None:
        return cell.nothing_yet("None of the program's cells has been run in this session.")
    try:
        source = cell.source_of(program)
        with cell.at_work("repair"):
            result = cell.ask(task.name, {"source": source}, module=MODULE)
    except UserError as error:
        return cell.nothing_yet(str(error))
    cell.say(result)
    record.attempt(task.name, "repair", result.status, result.points, result.max_points)
    return cell.worth(result.points)


def debrief(name: str, give_up: bool = False) -> None:
    """Print or display one edit that gives it."""
    task = load(name)
    if not give_up and not record.standing().get(task.name, {}).get("passed"):
        said = f'breaking.debrief("{task.name}", give_up=True)'
        print(fit(f"It opens when your edit has passed. Or give up: {said}"))
        return
    if headless():
        print(text(task))
        return
    from IPython.display import Markdown, display

    display(Markdown(text(task)))


def text(task: Breaking) -> str:
    """Markdown: our own edit, why it shows what was asked for, how it is repaired, and what is next."""
    fault = task.about
    before, after = source_lines(handed_out(task)), source_lines(solution(task))
    lines = [
        line
        for line in difflib.unified_diff(before, after, n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    changed = "\n".join(lines)
    names = list(everything())
    later = names[names.index(task.name) + 1 :]
    following = f"`exercises/{later[0]}.ipynb`: {everything()[later[0]].title}." if later else "That was the last one."
    return (
        f"### {fault.title}\n\nOur own edit; another one may be as right:\n\n```diff\n{changed}\n```\n\n{fault.why}\n\n"
        f"**How it is repaired.** {fault.fix}\n\n### Next\n\n{following}"
    )
