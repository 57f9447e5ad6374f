"""Grading by behavior: a repaired program is run and graded by what it does, never by its text.

    grade(source, Scenario("mlp", faults=("loop/stale_gradients",)))   ->  Result
    grade_exercise("04_flat_loss", source, diagnosis)                  ->  Result

Who sees what. The submission trains in a sandboxed worker with limits, without network and without the targets of the
held-out data. It returns only numbers: its weights, its predictions for unlabeled inputs, and the instruments' readings.
The grader loads the weights into the reference model, built from its own text, and computes the metric there. A
submission that prints, exits or patches cannot change that number. Readings of the trace are judged in the grader's own
process. But the trace is recorded in the submission's process, as are instruments that call the model. A submission
that tampers with the recorder can hide a symptom, so a reading counts only with weights as good as the healthy twin's.

Vital signs are all instruments that measure anything in a program. A submission fails if one fires on it but not on the
healthy program, whatever the task. There are three exceptions. Step times count only if slowness is the fault (`speed`).
Ranks are compared once all are back. Two runs are compared if the fault or the program's facts ask for a second run
(`second_run`). The program's `[facts]` give the metric, its direction, the chance level and the held-out data.
`evaluation.tasks` gives the allowed distance to the twin.

The held-out digits are scikit-learn's own. Training on them is detected from the samples in the batches.
"""

import importlib
from typing import Any

_HOMES = {
    "grade": "bugzoo.grading.grade",
    "grade_exercise": "bugzoo.grading.grade",
    "grade_diagnosis": "bugzoo.grading.answers",
    "Check": "bugzoo.grading.model",
    "Exercise": "bugzoo.grading.model",
    "Result": "bugzoo.grading.model",
    "reset": "bugzoo.grading.files",
    "build": "bugzoo.grading.files",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    # imported late: a submission's process imports this package and must not hold the catalogue
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
