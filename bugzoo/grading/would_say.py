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

    summary = report(run)
    lines = []
    for place, entry in enumerate(summary.remaining[:MOST], 1):
        at = f", line {entry.line}" if entry.line else ""
        lines.append(f"{place}. `{entry.cause}`{at}: {entry.reason}.")
    messages = [entry.message for entry in summary.readings[: MOST - len(lines)]]
    lines += [f"- Measured, and too little to name a cause: {message}." for message in messages]
    why = f"{summary.why[:1].upper()}{summary.why[1:]}." if summary.why else "Nothing found: no instrument fires."
    return lines or [why]
