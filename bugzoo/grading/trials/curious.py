"""What a curious learner might run in an exercise's notebook. No output may name the fault (`proving/leaks`)."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from bugzoo.grading.model import Exercise
from bugzoo.grading.notebook import build
from bugzoo.grading.trials import generic

PROBES = (
    "print(repr(program), repr(form), repr(hints), repr(view), repr(getattr(view, 'result', None)))",
    "print(vars(program), program.source)",
    "import pickle\nfor thing in (program.sections, form.diagnosis, numbers, hints.__dict__):\n    print(pickle.dumps(thing))",
    "print(vars(view.result.trace), view.result.trace.environment)",
    "program.look('no such view')",
    "raise ValueError(repr(numbers))",
    "print(dir(program), dir(cell))",
    "get_ipython().run_cell('%%program Training\\nraise ValueError =')",
)
"""Cells that a curious learner might add."""
WRONG = 'filled = {form}.hand_in(cause="something else", place=1, step=1, evidence=["loss_curve"], test="Z")'


def notebook(exercise: Exercise, source: str = "", answer: str = "") -> dict[str, Any]:
    """Return the student's notebook with another program and answer."""
    return json.loads(build(exercise, source=source, answer=answer))


def cells(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return cells that may raise."""
    fixed: dict[str, Any] = {"cell_type": "code", "execution_count": None}
    more = {"outputs": [], "metadata": {"tags": ["raises-exception"]}}
    return [{**fixed, "id": f"probe-{number}", **more, "source": text} for number, text in enumerate(texts)]


def before_answer(made: dict[str, Any], more: list[dict[str, Any]]) -> None:
    """Put cells before the one that hands in: after it a verdict may be shown."""
    place = next(place for place, cell in enumerate(made["cells"]) if cell["id"] == "diagnosis-answer")
    made["cells"][place:place] = more


def probe(exercise: Exercise, forms: Sequence[str] = ("form",)) -> dict[str, Any]:
    """Return the notebook with a wrong repair, a wrong diagnosis in each form, and the curious learner's cells.

    The repair is run twice: before the diagnosis, as the cell `tried`, and after it.
    """
    wrong = next(iter(generic(exercise.handed_out, *exercise.about_fault).values()))
    calls = ", ".join(f"repr({form})" for form in forms)
    probes = cells(text.replace("repr(form)", calls).replace("form.", f"{forms[0]}.") for text in PROBES)
    probes.insert(0, probes[0] | {"id": "tried", "source": f'_ = cell.repair("{exercise.name}")'})
    document = notebook(exercise, wrong, "\n".join(WRONG.format(form=form) for form in forms))
    before_answer(document, probes[:-1])
    document["cells"].append(probes[-1])  # it changes the program
    return document
