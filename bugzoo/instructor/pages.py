"""The written pages of an assignment's folder: the answer key, the proof, and what to type next."""

import json
import math
from collections.abc import Sequence

from bugzoo.instructor.diagnosis_cell import ANSWER
from bugzoo.instructor.folder import FOLDER
from bugzoo.instructor.form_records import LINE
from bugzoo.instructor.key import Answer
from bugzoo.instructor.proof import Proof
from bugzoo.templates import render

TEMPLATES = {
    "README.md": "readme.md.j2",
    "nbgrader_config.py": "nbgrader_config.py.j2",
    f"{FOLDER}/key.md": "key.md.j2",
    f"{FOLDER}/proof.md": "proof.md.j2",
}


def pages(proof: Proof, answers: Sequence[Answer], variants: bool) -> dict[str, str]:
    """Return path -> text. Grading on several seeds takes longer than nbgrader's default limit of 30 s a cell."""
    values = {
        "assignment": proof.assignment,
        "name": proof.assignment.name,
        "proof": proof,
        "answers": answers,
        "variants": variants,
        "seconds": max(300, math.ceil(proof.limit * 4)),
        "stub": json.dumps({"python": ANSWER}),
        "line": LINE,
    }
    return {path: render("bugzoo.instructor", template, **values) for path, template in TEMPLATES.items()}


def commands(name: str) -> str:
    """Return the commands to type in the assignment's folder."""
    return render("bugzoo.instructor", "commands.sh.j2", name=name)
