"""Scores by behaviour: a repaired program is run and judged on what it does, never on its text.

    grade(source, Scenario("mlp", faults=("loop/stale_gradients",)))   ->  Result
    grade_exercise("16_flat_loss", source, diagnosis)                  ->  Result

Who sees what. The submission trains in a sandboxed worker, without network, with limits, and without the targets of the
held-out data. What comes back is plain numbers: its weights, its answers to unlabelled inputs, and what the instruments
measured. The grader loads the weights into the reference model, built from its own text, and computes the metric there; a
submission that prints, exits or patches cannot touch that number. What can be read off the trace is judged in the grader's
own process, but the trace itself is recorded beside the submission, and so are the instruments that call the model: who
reaches into the recorder can hide a symptom there. It is believed only together with weights that are as good as the
healthy twin's.

Some steps of the training, others for each text and known to nobody beforehand, are worked out once more on this side
(`recomputed`; what was kept of them is `witnessed`): from the weights, the batch and the random state that the submission's
process had there, the reference program makes the gradient, and it has to be the one that the submission's optimiser was
given. So a repair that holds in some epochs, in evaluation only, or for the backward pass and not for the step does not pass,
nor one that holds for the grader's seeds alone. Layers of other names, a few calls of the model a step, a batch given by its
name, double precision and a loss written by hand are worked out as well; where hardly a step can be, the program is not
graded. What is kept of a step is told to the supervisor, as a digest in the line of that step, and so is the loss: what comes
back at the end has to agree, so that nothing of it can be written anew, left out or put there afterwards.

What stays open. Faults of which a correct repair may have other gradients (all but those that say `same_gradient`), training on
several ranks and what is done to the data before the model gets it are not worked out. A model of another architecture with as
many numbers is judged by the rest alone. The witness shares its process with the submission: who finds it in the memory can
read which steps are asked for and be right at these, or show it the healthy gradient and loss at each step and follow others.
To do so he needs the healthy gradient itself, which is the repair, and a program that patches its own grader, which anybody
sees who reads it. tests/grading/attack_kinds/open.py lists what passes.

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
