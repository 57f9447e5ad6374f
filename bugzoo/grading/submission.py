"""One run of a submission on one seed: what its checks read, each part computed once and only if a check asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bugzoo.faults.model import Fault
from bugzoo.grading import baseline, reference
from bugzoo.grading.baseline import Baseline
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.tasks import TaskKind
from bugzoo.grading.partial_credit import shows
from bugzoo.grading.readings import account
from bugzoo.grading.reference import trusted
from bugzoo.grading.tolerances import Allowances, tolerances
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Submission:
    """A run, the seeded case that it repairs, and how `wide` the bands on this seed are.

    Any property may raise whatever the files that a run left behind bring about.
    """

    run: Run
    case: Scenario
    wide: float = 1.0
    """Tolerance on one seed, in units of the tolerance of the mean over the seeds."""

    @cached_property
    def twin(self) -> Baseline:
        """The healthy twin's results. Raises RuntimeError if it does not finish."""
        return baseline.twin(self.case)

    @cached_property
    def may(self) -> Allowances:
        """What a repair of this case may need."""
        return tolerances(self.case)

    @cached_property
    def kind(self) -> TaskKind:
        """How answers of its program are judged."""
        return task(self.case.program)

    @property
    def readings(self) -> Mapping[str, Reading]:
        """Instrument -> what it measured, over all runs of this seed."""
        return self.run.readings

    @cached_property
    def account(self) -> Mapping[str, Any]:
        """The submission process's own report on its data, tools and size; empty without one."""
        return account(self.run)

    @cached_property
    def losses(self) -> np.ndarray:
        """(steps,) loss of each step, in float64."""
        return np.asarray(self.run.trace.loss, dtype=np.float64)

    @cached_property
    def weights(self) -> dict[str, np.ndarray]:
        """The trained state_dict; empty without a readable `model`."""
        return baseline.weights(self.run.arrays)

    @property
    def said(self) -> np.ndarray | None:
        """What its own model answers to the grader's inputs; None if it could not be called with them."""
        return self.run.arrays.get("predictions")

    @cached_property
    def questions(self) -> tuple[np.ndarray, np.ndarray]:
        """The grader's inputs and targets."""
        with trusted:
            return reference.questions(self.case)

    @cached_property
    def usual_answers(self) -> np.ndarray | None:
        """What the reference model answers with these weights; None if they do not fit it."""
        with trusted:
            if not self.weights or not reference.fits(self.case, self.weights):
                return None
            return reference.answer(self.case, self.weights, self.questions[0])

    @cached_property
    def still(self) -> int:
        """Number of parameter values that never changed, by the trace and against the initial weights."""
        with trusted:
            return max(baseline.untouched(self.run), reference.never_moved(self.case, self.weights))

    @cached_property
    def showing(self) -> tuple[Fault, ...]:
        """The case's faults that still show, by the catalogue's evidence."""
        return tuple(fault for fault, _ in self.case.specs if shows(fault, self.readings))
