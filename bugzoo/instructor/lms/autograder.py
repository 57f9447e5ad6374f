"""Gradescope's autograder: a zip that its container is made of, and what runs there for each submission.

    python -m bugzoo.instructor.lms.autograder /autograder

reads the one submission in `submission/` and writes `results/results.json`, whatever is handed in.
"""

import json
import sys
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.instructor import classroom, diagnosis_cell, submission, tasks
from bugzoo.instructor.lms.gradescope_out import FILE, results
from bugzoo.instructor.lms.handin import Who, choose
from bugzoo.instructor.lms.people import People
from bugzoo.instructor.lms.tree import of_folder
from bugzoo.instructor.records import UNGRADED, Record
from bugzoo.instructor.submission import Submission
from bugzoo.plain import plain

CONFIG = "autograder.json"


def grade(root: Path) -> Record:
    """The record of the submission below `root`, Gradescope's folder. Raises UserError where the machine cannot grade."""
    config = json.loads((root / "source" / CONFIG).read_text(encoding="utf-8"))
    own = root / "source" / config["assignment"]
    task = tasks.to_grade(str(own) if own.is_dir() else config["assignment"])
    if not config["trust"]:
        diagnosis_cell.check_sandbox()
    tree = of_folder(root / "submission")
    file, problem, notes = choose([("/".join(one.parts), one) for one in tree.files], task.name)
    made = Submission(_student(root, task), file.path if file else None, problem, notes=notes, handed=str(file or ""))
    read = submission.read(made, task.original(), task.name)
    return classroom.grade_one(read, task=task, by=task.fingerprint(), strict=not config["trust"])


def _student(root: Path, task: tasks.Task) -> str:
    """Who handed in, by Gradescope's metadata: of the class where its people are known, else as Gradescope says."""
    about = _metadata(root)
    for one in about:
        who = Who((str(one.get("name") or ""),), (str(one.get("sid") or ""),), str(one.get("email") or ""))
        found, _ = People(task.people).find(who)
        if found:
            return found
    return str(about[0].get("email") or about[0].get("name") or "") if about else ""


def _metadata(root: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))
        return [one for one in found["users"] if isinstance(one, dict)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def main(root: Path) -> None:
    """Grade and write; a failure is said in the results, without a score, and is no zero."""
    try:
        found = results(grade(root))
    except Exception as error:  # an autograder that dies tells a student nothing
        why = str(error) if isinstance(error, UserError) else f"the grader failed: {type(error).__name__}: {error}"
        found = results(Record("", UNGRADED, None, 0.0, why[:1000]))
    write_atomic(root / "results" / FILE, json.dumps(plain(found), indent=1, allow_nan=False) + "\n", parents=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
