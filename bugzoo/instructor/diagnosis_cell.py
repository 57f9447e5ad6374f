"""The diagnosis cell of a submission, run in the sandbox with forms that only record what they are given."""

import json
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading.notebook import STUB
from bugzoo.grading.parse_answers import number
from bugzoo.running import Job, Limits, run_worker, sandbox

NAMES = ("first", "second", "third", "form")
_MARK = "bugzoo-records:"

_FRAME = """
import json

class _Form:
    def __init__(self):
        self.record = {}

    def hand_in(self, **fields):
        self.record.update(fields)
        return self

    def show(self):
        return self

_forms = {name: _Form() for name in %(names)r}
_problem = ""
try:
    exec(compile(%(text)r, "diagnosis", "exec"), dict(_forms, hints=None))
except BaseException as error:
    _problem = f"{type(error).__name__}: {error}"[:300]
_said = {"records": [_forms[name].record for name in %(names)r], "problem": _problem}
print()
print(%(mark)r + json.dumps(_said, default=str))
"""


def records(text: str, strict: bool = True) -> tuple[list[dict[str, Any]], str]:
    """Return (one record for each form, why the cell failed or "").

    Raises RuntimeError if the machine fails and, if `strict`, if it has no sandbox.
    """
    if text.strip() in ("", STUB):
        return [], ""
    source = _FRAME % {"names": NAMES, "text": text, "mark": _MARK}
    limits = Limits(seconds=20, memory_mib=1024, processes=8)
    run = run_worker(Job(source, file="diagnosis.py", limits=limits, isolated=sandbox.needed(strict), watch=False))
    if run.trouble:
        raise RuntimeError(run.trouble)
    lines = [line for line in run.stdout.splitlines() if line.startswith(_MARK)]
    try:
        said = json.loads(lines[-1].removeprefix(_MARK))
        return [_plain(record) for record in said["records"]], str(said["problem"])
    except (IndexError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], f"the cell did not finish ({run.outcome})"


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are graded; a field of the wrong type is left out."""
    evidence = record.get("evidence")
    evidence = [evidence] if isinstance(evidence, str) else evidence
    return {
        "cause": str(record.get("cause") or "")[:200],
        "place": number(record.get("place")),
        "step": number(record.get("step")),
        "evidence": [str(name)[:100] for name in evidence[:50]] if isinstance(evidence, list) else [],
        "test": str(record.get("test") or "")[:1000],
    }


def check_sandbox() -> None:
    """Raise UserError if this machine cannot isolate other people's code."""
    try:
        why = sandbox.missing()
    except RuntimeError as error:
        why = str(error)
    if why:
        raise UserError(
            f"{why} Submissions would run with your own permissions. Grade on a machine that allows user namespaces. "
            "If you trust every student, add --trust."
        )
