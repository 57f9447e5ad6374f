"""What a graded cell calls. The score is computed in another process, which answers in JSON; the cell ends with a float.

A notebook's kernel is no boundary: whoever owns it can replace this module. `bugzoo grade` reads the notebook's cells
and never runs them in a kernel; use it where points matter.
"""

import json
import subprocess
import sys
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading import progress
from bugzoo.grading.model import Result


def repair(name: str, program: Any, diagnosis: dict[str, Any] | None = None) -> float:
    """Print what the repaired program does and return its points."""
    return _answer(name, {"kind": "repair", "source": _source(program), "diagnosis": diagnosis})


def diagnosis(name: str, record: dict[str, Any] | None) -> float:
    """Print how right the diagnosis is and return its points."""
    return _answer(name, {"kind": "diagnosis", "diagnosis": record})


def hints(name: str) -> tuple[str, str, str]:
    from bugzoo.grading.exercises import load

    return load(name).hints


def _source(program: Any) -> str:
    return program if isinstance(program, str) else program.source


def _answer(name: str, question: dict[str, Any]) -> float:
    try:
        result = ask(name, question)
    except UserError as error:
        print(f"cannot be graded. {error}")
        return 0.0
    print(result)
    progress.keep(name, question["kind"], result)
    return float(result.points)


def ask(name: str, question: dict[str, Any], module: str = "bugzoo.grading") -> Result:
    """Put a question to a fresh grading process (`python -m module`). Raises UserError when it gives no answer."""
    done = subprocess.run(
        [sys.executable, "-m", module, name],
        input=json.dumps(question, default=str),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"The grader gave no answer: {last}") from None
    if "error" in found:
        raise UserError(found["error"])
    return Result.from_json(found)
