"""What an answer to a line-up earns."""

from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading import diagnosis as of
from bugzoo.grading.lineup.model import LETTERS, NONE, POINTS, Lineup
from bugzoo.grading.model import Check, Result

SHARES = {"run": 0.5, "cause": 0.3, "evidence": 0.2}
"""Of the points. Whoever names a wrong run earns nothing for the rest."""


def judge(lineup: Lineup, given: dict[str, Any] | None) -> Result:
    """Judge {"run": letter or "none", "cause": word, "evidence": [instrument, ...]}."""
    most, given = sum(POINTS), given if isinstance(given, dict) else {}
    run = str(given.get("run") or "").strip()
    run = run.lower() if run.lower() == NONE else run.upper()
    if not run:
        return Result("not attempted", message="No run is named yet.", max_points=most)
    if run not in (*LETTERS, NONE):
        message = f"{given.get('run')!r} is no run; it is one of {', '.join(LETTERS)}, or {NONE!r}."
        return Result("not attempted", message=message, max_points=most)
    right = run == lineup.ill
    checks = [_check("run", right, f"you say {run}", "another look at all five")]
    if right:
        checks += _further(lineup, given)
    share = sum(SHARES[check.name] for check in checks if check.passed)
    message = "" if share in (0, 1) else "The run is right; what is marked NO is not."
    status = "passed" if share == 1 else "wrong"
    return Result(status, share, checks, message, points=round(share * most, 4), max_points=most)


def _further(lineup: Lineup, given: dict[str, Any]) -> list[Check]:
    if lineup.ill == NONE:  # there is no cause to be named, and no one instrument that shows that nothing is
        return [_check(name, True, "nothing is wrong") for name in ("cause", "evidence")]
    try:
        cause = of.known_cause(given.get("cause") or "")
    except UserError:
        cause = ""
    looked = [str(one) for one in given.get("evidence") or ()]
    shown = [one for one in looked if one in lineup.evidence]
    return [
        _check("cause", cause in lineup.causes, f"you say {cause or 'nothing'}", "what this run's readings speak for"),
        _check(
            "evidence",
            bool(shown),
            ", ".join(shown or looked) or "none named",
            "an instrument whose reading is not usual",
        ),
    ]


def _check(name: str, good: bool, saw: str, expected: str = "") -> Check:
    return Check(name, "passed" if good else "wrong", saw, expected)


def filled(lineup: Lineup) -> dict[str, Any]:
    """An answer that earns everything, as the solution notebook gives it."""
    return {"run": lineup.ill, "cause": lineup.causes[0], "evidence": list(lineup.evidence[:1])}
