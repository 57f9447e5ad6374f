"""Whether an answer is right: a commit by its hash, a number within its tolerance, a choice by its word."""

import math
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.incidents import repository, sealed
from bugzoo.incidents.bisecting import REPOSITORY


def check(folder: Path, answer: str, number: int = 1) -> bool:
    """Is `answer` right for the question `number`, from 1? Raises UserError for what answers no question."""
    questions = sealed.read(folder)["questions"]
    if not 1 <= number <= len(questions):
        raise UserError(
            f"--question {number}: there are {len(questions)}, from 1 to {len(questions)}; TICKET.md has them."
        )
    asked = questions[number - 1]
    if asked["kind"] == "commit":
        repository.present()
        if not (folder / REPOSITORY).is_dir():
            raise UserError(f"{folder / REPOSITORY} is gone. Make the incident again, in another folder.")
        return repository.resolved(folder / REPOSITORY, answer) == asked["answer"]
    if asked["kind"] == "number":
        try:
            value = float(answer)
        except ValueError:
            raise UserError(f"{answer[:80]!r} is no number, and the question {number} asks for one.") from None
        return math.isfinite(value) and abs(value - asked["answer"]) <= asked["tolerance"]
    given = answer.strip().lower()
    if given not in asked["choices"]:
        raise UserError(f"{answer[:80]!r} is none of the answers to question {number}: {', '.join(asked['choices'])}.")
    return given == asked["answer"]
