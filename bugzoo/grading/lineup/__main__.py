"""The grading process of a line-up's cell."""

from typing import Any

from bugzoo.grading.lineup import load
from bugzoo.grading.lineup.answer import judge
from bugzoo.grading.model import Result
from bugzoo.grading.serve import serve


def answer(name: str, question: dict[str, Any]) -> Result:
    """Raises UserError."""
    return judge(load(name), question["diagnosis"])


if __name__ == "__main__":
    serve(answer)
