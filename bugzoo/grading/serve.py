"""Protocol of the grading processes: a question as JSON on stdin, the result as one line of JSON on stdout."""

import json
import sys
from collections.abc import Callable
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading.model import Result


def serve(answer: Callable[[str, dict[str, Any]], Result]) -> None:
    """Answer the question about the first argument; a user's mistake is answered with {"error": ...}."""
    try:
        result = answer(sys.argv[1], json.load(sys.stdin))
    except UserError as error:
        print(json.dumps({"error": str(error)}))
        return
    print(json.dumps(result.to_json()))
