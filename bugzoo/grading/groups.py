"""The five groups of checks: what a learner sees of a repair's verdict before the diagnosis is complete.

A check's line names an instrument and a number, and both lead to the cause. A group does not.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bugzoo.grading.model import Result

GROUPS = {
    "runs": "It runs and trains",
    "gone": "What was wrong is gone",
    "new_data": "It holds on new data",
    "unchanged": "Nothing else was changed",
    "every_run": "The same on every run",
}
"""Id of each group -> its words, in the order in which they are printed."""
FAILED, NOT_REACHED, NOT_ASKED = "failed", "not reached", "not asked"
SAYS_WHY = ("not attempted", "cannot be graded", "for a person")
"""States whose message is about the file, its text or the machine, not about the fault."""
RAISED = "The program stopped with an error. program.run() runs it, and program.numbers() prints the error."


def state(result: "Result", group: str) -> str:
    """Return "passed" or "failed" for a group; without checks "not reached", or "not asked" if every check passed."""
    checks = [check for check in result.checks if check.group == group]
    if not checks:
        return NOT_ASKED if result.passed or (result.checks and result.status == "for a person") else NOT_REACHED
    return "passed" if all(check.passed for check in checks) else FAILED


def in_groups(result: "Result", counted: bool = False) -> str:
    """Return one line for each group, without an instrument, a number or a cause. `counted`: also how many checks pass.

    A program that crashes reaches no further group. The last group is reached once the first seed passes.
    """
    width = max(map(len, (NOT_REACHED, NOT_ASKED)))
    return "\n".join(
        f"{state(result, group):<{width}}  {words}{_count(result, group) if counted else ''}"
        for group, words in GROUPS.items()
    )


def _count(result: "Result", group: str) -> str:
    passed = [check.passed for check in result.checks if check.group == group]
    return f": {sum(passed)} of {len(passed)} checks pass" if passed else ""


def sealed(result: "Result") -> "Result":
    """Return a result that holds its status and its groups, and nothing else: no check, number, share or points."""
    from bugzoo.grading.model import Check

    why = [f"{check.saw} {check.expected}" for check in result.checks if check.status in SAYS_WHY]
    message = RAISED if result.status == "your code raised" else ""
    if result.status in SAYS_WHY or (result.status == "wrong" and not result.checks):  # of an unreadable program
        message = result.message or " ".join(why)
    states = {group: state(result, group) for group in GROUPS}
    statuses = {"passed": "passed", FAILED: "wrong"}  # of a group that was reached
    checks = [Check(group, statuses[end], "", group=group) for group, end in states.items() if end in statuses]
    return replace(result, share=0.0, checks=checks, message=message, seconds=0.0, points=0.0, max_points=0.0)


def of_a_trap(result: "Result") -> "Result":
    """Return the result of a changed healthy program as that of a program whose fault was not found.

    Nothing was wrong, so a change cannot take it away. If that group passed, any change would tell that this is a trap.
    """
    from bugzoo.grading.model import Check

    if result.status not in ("passed", "wrong", "for a person") or not result.checks:
        return result
    checks = [check for check in result.checks if check.name != "agreement"]
    checks.append(Check("symptom", "wrong", "", group="gone"))
    return replace(result, status="wrong", share=0.0, message="", checks=checks)
