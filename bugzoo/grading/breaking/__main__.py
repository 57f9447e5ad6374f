"""The grading process of such an exercise's cell."""

from typing import Any

from bugzoo.grading.breaking import load
from bugzoo.grading.breaking.judge import judge
from bugzoo.grading.model import Result
from bugzoo.grading.serve import serve


def answer(name: str, question: dict[str, Any]) -> Result:
    """Raises UserError."""
    return judge(load(name), question["source"])


if __name__ == "__main__":
    serve(answer)
