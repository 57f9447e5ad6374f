"""A verdict from one run if it is clear, else from three seeds: for proofs and interviews.

A right repair may draw random numbers in another order, and so miss the band on one seed in ten or twenty.
"""

from typing import Any

from bugzoo.grading.evaluation import task
from bugzoo.grading.grade import SEEDS, grade
from bugzoo.grading.model import Result
from bugzoo.scenario import Scenario


def quick(source: str, scenario: Scenario, **options: Any) -> Result:
    """Grade `source` on the scenario's own seed, and on two more if it only missed a band there."""
    result = grade(source, scenario, seeds=(scenario.seed,), **options)
    failed = {check.name for check in result.checks if not check.passed}
    if result.status != "wrong" or not failed <= {task(scenario.program).metric, "loss", "training loss"}:
        return result
    return grade(source, scenario, seeds=tuple(scenario.seed + more for more in SEEDS), **options)
