"""Scores by behaviour: a repaired program is run and judged on what it does, never on its text.

    grade(source, Scenario("mlp", faults=("loop/stale_gradients",)))   ->  Result
    grade_exercise("01_flat_loss", source, diagnosis)                  ->  Result

Who sees what. The submission trains in a sandboxed worker, without network, with limits, and without the targets of the
held-out data. What comes back is plain numbers: its weights, its answers to unlabelled inputs, and what the instruments
measured. The grader loads the weights into the reference model, built from its own text, and computes the metric there; a
submission that prints, exits or patches cannot touch that number. What can be read off the trace is judged in the grader's
own process, but the trace itself is recorded beside the submission, and so are the instruments that call the model: who
reaches into the recorder can hide a symptom there. It is believed only together with weights that are as good as the
healthy twin's.

Vital signs are all instruments that measure anything in a program: one that does not fire on the healthy program and fires
on a submission accuses it, whatever the task. Three exceptions: how long steps take counts only where slowness is the fault
(`speed`), what compares ranks is asked when all of them are back, and what compares two runs is asked where the fault or
the program's facts name a second run (`pair`). What is computed, in which direction it is better, what chance reaches and
which data is held out stands in the program's `[facts]`; how far below the twin's it may lie, in `evaluation.tasks`.

The held-out digits are scikit-learn's own: who trains on them is found by the samples in the batches.
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
    # looked up late: a submission's process imports this package and must not hold the catalogue
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
