"""The grading process: a question as JSON on stdin, the result as one line of JSON on stdout."""

import json
import sys

from bugzoo.errors import UserError
from bugzoo.grading.answers import grade_diagnosis
from bugzoo.grading.grade import grade_exercise


def main() -> None:
    question = json.load(sys.stdin)
    try:
        if question["kind"] == "diagnosis":
            result = grade_diagnosis(sys.argv[1], question["diagnosis"])
        else:
            result = grade_exercise(sys.argv[1], question["source"], question.get("diagnosis"))
    except UserError as error:
        print(json.dumps({"error": str(error)}))
        return
    print(json.dumps(result.to_json()))


if __name__ == "__main__":
    main()
