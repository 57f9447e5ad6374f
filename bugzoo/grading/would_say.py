"""What `bugzoo checkup` says about an exercise's broken program. Its debrief shows it."""

from bugzoo.grading import healthy
from bugzoo.grading.model import Exercise
from bugzoo.grading.texts import broken_text
from bugzoo.running import Run, run_worker

MOST = 3
"""Suspects that are listed."""


def text(exercise: Exercise) -> str:
    """Run the program once under every instrument; return Markdown: its suspects with what was seen, likeliest first."""
    job = healthy.job(broken_text(exercise), exercise.scenario.ranks, after="bugzoo.diagnostics:measure_all")
    head = "### What `checkup` would have said\n\n`bugzoo checkup` runs all instruments on a script and names suspects."
    return "\n\n".join([head, "\n".join(suspects(run_worker(job)))])


def suspects(run: Run) -> list[str]:
    """Return a line for each suspect of a measured run, or one that says why it has none."""
    from bugzoo.diagnostics.checkup import report

    found = report(run)
    lines = [
        f"{place}. `{one.cause}`" + (f", line {one.line}" if one.line else "") + f": {one.reason}."
        for place, one in enumerate(found.remaining[:MOST], 1)
    ]
    lines += [
        f"- Measured, and too little to name a cause: {one.message}." for one in found.readings[: MOST - len(lines)]
    ]
    if not lines:
        lines = [f"{found.why[:1].upper()}{found.why[1:]}." if found.why else "Nothing found: no instrument fires."]
    return lines
