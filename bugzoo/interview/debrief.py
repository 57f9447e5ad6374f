"""The solution of a case, as data and as text: the views that show it, what `checkup` would have said, the repair."""

from collections.abc import Callable
from typing import Any

from bugzoo import views
from bugzoo.grading import would_say
from bugzoo.grading.diagnosis import telling
from bugzoo.interview.deck import NOTHING, Case
from bugzoo.interview.evidence import Evidence, row_text
from bugzoo.interview.measure import ended_by_itself


def of(case: Case, evidence: Evidence) -> dict[str, Any]:
    """Return the debrief of a case. `shown_by`: each view that shows it, and whether the candidate opened it."""
    fault, scenario = case.fault, case.scenario
    return {
        "cause": NOTHING if fault.trap else fault.id,
        "case": fault.id,
        "program": scenario.program,
        "topic": case.topic,
        "title": fault.title,
        "why": fault.why,
        "fix": fault.fix,
        "shown_by": [] if fault.trap else [_shown(name, evidence) for name in telling(fault)],
        "checkup": _checkup(evidence),
        "look_alikes": {
            look_alike.other: f"{look_alike.test} Here: {look_alike.here} There: {look_alike.there}"
            for look_alike in fault.look_alikes
        },
        "diff": scenario.diff(),
    }


def _shown(name: str, evidence: Evidence) -> dict[str, Any]:
    """Return the view and its numbers outside their usual ranges; none that needs a run which was not made."""
    numbers = evidence.readings[name].numbers
    rows = [row_text(row, row.value(numbers)) for row in evidence.outside(name)]
    return {"view": name, "opened": name in evidence.seen, "outside": rows}


def _checkup(evidence: Evidence) -> list[str]:
    lines = would_say.suspects(evidence.run)
    again = [name for name in views.names() if views.reruns(name) and name not in evidence.seen]
    if again and ended_by_itself(evidence.run):
        lines.append(f"`bugzoo checkup` would also run the script again, as the view `{again[0]}` does.")
    return lines


def show(result: dict[str, Any], say: Callable[..., None]) -> None:
    """Print the rubric and the solution of the case."""
    say("")
    for row in result["rows"]:
        of = f"/{row['of']}" if row["of"] else ""
        say(f"  {row['name']:20} {row['points']:>5g}{of:4} {row['why']}")
    say(f"  {'total':20} {result['points']:>5g}/{result['of']}  ({result['status']})")
    case = result["debrief"]
    say(f"\nThe case: {case['case']} on {case['program']}: {case['title']}\n\n{case['why']}\n\nRepair: {case['fix']}")
    if case["shown_by"]:
        say("\nThe views that show it:")
    for view in case["shown_by"]:
        say(f"  {view['view']}, {'opened' if view['opened'] else 'not opened'}")
        for row in view["outside"]:
            say(f"    {row}")
    say("\nWhat `bugzoo checkup` would have said:")
    for line in case["checkup"]:
        say(f"  {line}")
    say("")
    for other, test in case["look_alikes"].items():
        say(f"Looks like {other}: {test}")
    say(f"\n{case['diff']}")
