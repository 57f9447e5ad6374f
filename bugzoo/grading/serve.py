"""Protocol of the grading processes: a question as JSON on stdin, the result as one line of JSON on stdout.

On stderr they tell what they are doing (`stages`).
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading import stages
from bugzoo.grading.model import Result


def serve(answer: Callable[[str, dict[str, Any]], Result]) -> None:
    """Answer the question about the first argument; a user's mistake is answered with {"error": ...}."""
    question = json.load(sys.stdin)
    try:
        with stages.told(stages.on_stderr):
            stages.stage("starting")
            result = answer(sys.argv[1], question)
    except UserError as error:
        print(json.dumps({"error": str(error)}))
        return
    print(json.dumps(result.to_json()))
