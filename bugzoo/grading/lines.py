"""The lines that a verdict prints: a title, what was done and what came out, and what would pass."""

import re
from typing import TYPE_CHECKING

from bugzoo.grading import reasons, symptoms
from bugzoo.grading.groups import GROUPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bugzoo.grading.model import Check, Result
    from bugzoo.scenario import Scenario

TITLES = {
    "run": "Run",
    "account": "Report of the run",
    "instruments": "Alarms",
    "symptom": "What was wrong",
    "training": "Parameters that train",
    "training loss": "Training loss",
    "second run": "Second run",
    "seeds": "Other seeds",
    "later steps": "Later steps",
    "speed": "Duration",
    "forward pass": "Outputs of the model",
    "answers": "Predictions of the model",
    "steps": "Repeated steps",
    "order": "Order of the data",
    "data at steps": "Training data of drawn steps",
    "gradient": "Gradients step by step",
    "update": "Updates step by step",
    "modes at steps": "Modes during the training",
    "dropout": "Dropout",
    "answers at steps": "Predictions during the training",
    "weights": "Use of the weights",
    "model": "Model",
    "accuracy": "Accuracy on new data",
    "r2": "r2 on new data",
    "loss": "Loss on new data",
    "budget": "Optimizer steps",
    "tools": "torch and bugzoo",
    "model size": "Model size",
    "data": "Training data",
    "report": "Reported result",
    "agreement": "Behavior",
    "decoy": "What is odd and harmless",
    "verdict": "Diagnosis",
    "cause": "Cause",
    "place": "Line",
    "raised": "Line that raised",
    "step": "First step",
    "evidence": "Views",
    "test": "Test",
    "reading": "View that told",
    "metrics": "Reported result",
    "grader": "What the model knows",
    "evaluation": "Evaluation",
    "unchanged model": "Model as it was",
    "unchanged optimizer": "Optimizer as it was",
    "unchanged loss": "Loss as it was",
    "unchanged mask": "Mask as it was",
    "unchanged softmax": "Softmax as it was",
    "both_modes.grad_gap": "With gradients and without",
    "both_modes.future_leak": "Train mode and eval mode",
    "both_modes.later_weight": "Attention weights",
}
"""Name of a check -> its title. Instruments have theirs in `symptoms`; other names are their own titles."""
ONLY_ALARMS = "Instruments that are not listed raised no alarm, or had nothing to measure in this program."
NON_FINITE = {"first_non_finite", "replay"}
"""Instruments that look for NaN and infinity."""
STOPPED = "Nothing else was graded, as the run did not finish."


def title(name: str) -> str:
    """Return the title of a check in plain words; a claim about `instrument.key` has the instrument's."""
    whose = name.partition(".")[0]
    return TITLES.get(name) or TITLES.get(whose) or symptoms.title(whose) or name


def of_check(check: "Check") -> str:
    """Return the line of one check."""
    mark = "ok " if check.passed else "NO "
    if check.passed or not check.expected:
        return f"{mark} {title(check.name)}: {check.saw}"
    between = " " if check.saw.endswith((".", "!", "?")) else "; what passes: "
    return f"{mark} {title(check.name)}: {check.saw}{between}{check.expected}"


def of_result(result: "Result") -> str:
    """Return the lines of a result: its status, points and message, the checks, and what is not among them.

    The checks of a repair come as `reasons` orders them; the parts of a diagnosis keep their order.
    """
    first = result.status
    if result.max_points:
        first += f": {result.points:g} of {result.max_points:g} points"
    of_repair = any(check.group for check in result.checks)
    checks = reasons.by_telling(result.checks) if of_repair else result.checks
    lines = [first + (f". {result.message}" if result.message else ""), *map(of_check, checks)]
    if result.status == "your code raised":
        lines.append(STOPPED)
    elif any(not check.passed and symptoms.title(check.name) for check in result.checks):
        lines.append(ONLY_ALARMS)
    return "\n".join(lines)


def hidden(found: "Sequence[Check]", scenario: "Scenario") -> str:
    """Return what to say of a repair that fails although the fault no longer shows; "" for any other repair."""
    from bugzoo.grading.tolerances import tolerances

    passed = {check.name: check.passed for check in reversed(found)}  # of two with one name the first seed's counts
    failed = {group: [check for check in found if check.group == group and not check.passed] for group in GROUPS}
    if not scenario.faults or tolerances(scenario).healthy or not (passed.get("run") and passed.get("symptom")):
        return ""
    named = {claim.split(".")[0] for fault, _ in scenario.specs for claim in fault.evidence}
    gone = "No NaN or infinity is left" if named & NON_FINITE else "The symptom is gone"
    if wrong := [*failed["new_data"], *failed["runs"], *failed["gone"]]:
        still = "the program still computes something else than the healthy one"
        return f"{gone}, but the cause is not: {still}. {_outcome(min(wrong, key=reasons.rank))}"
    if wrong := failed["unchanged"]:
        still = "the repair also changed what has to stay as it was"
        return f"{gone}, but {still}. {_outcome(min(wrong, key=reasons.rank))}"
    return "The fault is gone in the first run, but the repair does not pass in every run."


def _outcome(check: "Check") -> str:
    """Return what came out; of an instrument also what was done, as its numbers need that."""
    if symptoms.title(check.name):
        return check.saw
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])", check.saw.strip())[-1]
