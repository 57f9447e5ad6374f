"""Grading a candidate's repaired file by what it does, never by its text."""

from typing import Any

from bugzoo import diagnostics
from bugzoo.grading import salt
from bugzoo.grading.lines import title
from bugzoo.grading.quick import quick
from bugzoo.grading.reasons import by_telling
from bugzoo.interview.deck import Case

SECONDS = 120.0
"""Limit of one run, in seconds: a file that still hangs costs the candidate no more than this."""


def grade(case: Case, source: str) -> dict[str, Any]:
    """Return {"share": 0..1, "why": text, "checks": [{"check", "passed", "saw"}]}.

    `bugzoo.grading` grades it on unseen data, under the conditions in the fault's file. `bugzoo verify` grades the
    cell's repairs and pretences in the same way.
    """
    with salt.of_this_machine():
        result = quick(source, case.scenario, seconds=SECONDS)
    checks = [{"check": check.name, "passed": check.passed, "saw": check.saw} for check in result.checks]
    if not checks:
        checks = [{"check": "gradable", "passed": False, "saw": result.message}]
        why = f"{title('gradable')}: {result.message}"
    failed = [check for check in by_telling(result.checks) if not check.passed]
    why = " ".join(f"{title(check.name)}: {check.saw}" for check in failed) or result.message
    return {"share": result.share, "why": why or "the repaired program is healthy", "checks": checks}


def summary(verdict: dict[str, Any]) -> str:
    """Return in a sentence what failed, without the numbers of instruments: those would be free evidence."""
    failed = [check["check"] for check in verdict["checks"] if not check["passed"]]
    failed = list(dict.fromkeys("an instrument" if name in diagnostics.names() else name for name in failed))
    return f"Not healthy yet. Failed: {', '.join(failed)}." if failed else "The repaired program is healthy."
