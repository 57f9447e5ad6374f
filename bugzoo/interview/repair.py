"""A candidate's repaired file, judged by what it does: never by what it says."""

from typing import Any

from bugzoo.grading.quick import quick
from bugzoo.interview.deck import Case

SECONDS = 120.0
"""Limit of one run: a file that still hangs costs a candidate this long, and no more."""


def grade(case: Case, source: str) -> dict[str, Any]:
    """{"share": 0..1, "why": text, "checks": [{"check", "passed", "saw"}]}.

    The grading room judges it, on data that the file never saw, under the conditions that the fault's file states, as it
    judges the repairs and pretences by which `bugzoo verify` proves the cell.
    """
    result = quick(source, case.scenario, seconds=SECONDS)
    checks = [{"check": check.name, "passed": check.passed, "saw": check.saw} for check in result.checks]
    if not checks:
        checks = [{"check": "gradable", "passed": False, "saw": result.message}]
    failed = [check for check in checks if not check["passed"]]
    why = "; ".join(f"{check['check']}: {check['saw']}" for check in failed) or "the repaired program is healthy"
    return {"share": result.share, "why": why, "checks": checks}
