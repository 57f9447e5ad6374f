"""Submissions as a class hands them in, made from the notebook that was handed out."""

import json
from pathlib import Path
from typing import Any

from bugzoo.grading.model import Result
from bugzoo.instructor import Assignment, key
from bugzoo.instructor.form_records import FormRecord, output
from bugzoo.instructor.proof import Proof, Step
from bugzoo.instructor.visible import Sight

BACKWARD = "        loss.backward()\n"
ZERO = "        optimizer.zero_grad()\n"
SOFT, PLAIN = "F.cross_entropy(F.softmax(logits, dim=-1), targets)", "F.cross_entropy(logits, targets)"

# what a dishonest student may try in the cells of the program: every door that a score could come through
PATCH = """import torch
import torch.nn.functional as F
import bugzoo.diagnostics as rooms
import bugzoo.running.child as child
rooms.measure_all = lambda *a, **k: {}
rooms.judge_all = lambda *a, **k: []
torch.nn.Module.__call__ = torch.nn.Module.__call__
F.softmax = lambda x, dim=None: x
F.relu = F.gelu
metrics = {"accuracy": 1.0, "loss": 0.0}
"""


def cell(made: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in made["cells"] if entry["id"] == name)


def text(made: dict[str, Any], name: str) -> str:
    return "".join(cell(made, name)["source"])


def replace(made: dict[str, Any], name: str, old: str, new: str) -> None:
    """Change a cell's text; what is to be replaced has to be there once."""
    before = text(made, name)
    assert before.count(old) == 1, (name, old)
    cell(made, name)["source"] = before.replace(old, new).splitlines(keepends=True)


def answer(made: dict[str, Any], code: str) -> None:
    cell(made, "diagnosis-answer")["source"] = code.splitlines(keepends=True)


def clear_gradients(made: dict[str, Any]) -> None:
    replace(made, "program-training", BACKWARD, ZERO + BACKWARD)


def plain_loss(made: dict[str, Any]) -> None:
    replace(made, "program-training", SOFT, PLAIN)


def hand_in(folder: Path, student: str, made: dict[str, Any] | str, name: str) -> Path:
    """Write a submission in nbgrader's layout."""
    path = folder / student / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made if isinstance(made, str) else json.dumps(made), encoding="utf-8")
    return path


def by_buttons(week: Path, name: str, *, repaired: bool = True) -> dict[str, Any]:
    """A student's notebook whose only diagnosis is in the outputs of its form; `repaired`: with the solution's program."""
    notebook, solved = (
        json.loads((week / path).read_text()) for path in (f"student/{name}.ipynb", "instructor/solution.ipynb")
    )
    for entry in notebook["cells"]:
        if repaired and entry["id"].startswith("program-") and entry["id"] != "program-text":
            entry["source"] = cell(solved, entry["id"])["source"]
    answer_key = key.read(week)
    for number, right in enumerate(answer_key.answers, 1):
        place = right.places[0][0]
        record = FormRecord(
            number, answer_key.assignment.scenario.ticket, 1.0, right.cause, place, (right.evidence[0],)
        )
        data = {"text/plain": "Handed in.", **output(record)}
        cell(notebook, "form")["outputs"].append({"output_type": "display_data", "data": data, "metadata": {}})
    return notebook


def graded_on_two_seeds(week: Path) -> Path:
    """The same folder, whose class is graded on two seeds instead of three."""
    file = week / "instructor/key.json"
    answer_key = json.loads(file.read_text())
    answer_key["grading"]["seeds"] = [0, 1]
    file.write_text(json.dumps(answer_key))
    return week


def written_proof(draft: Assignment) -> Proof:
    """A proof as a passed one looks, written down rather than run: for tests of what is done with it."""
    halves = [Step("half", fault, Result("wrong", 0.3)) for fault in draft.ids]
    steps = [Step("full", "", Result("passed", 1.0)), Step("broken", "", Result("wrong")), *halves]
    return Proof(draft, (0, 1, 2), [Sight(fault) for fault in draft.ids], steps)
