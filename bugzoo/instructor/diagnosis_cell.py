"""The cell for typed calls of a submission, run in the sandbox with forms that only record what they are given.

The forms begin with what their buttons handed in. A typed call overrides the fields that it gives.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading.isolation import isolate
from bugzoo.grading.notebook import STUB
from bugzoo.grading.parse_answers import number
from bugzoo.instructor.form_records import FORMS
from bugzoo.running import Job, Limits, run_worker, sandbox
from bugzoo.templates import render

NAMES = (*FORMS, "form")
ANSWER = '# Nothing to type: press Hand in above and save. Without buttons: first.hand_in(cause="...", place=57)'
"""The stub of the cell for typed calls, in place of a solution. Also in `nbgrader_config.py`."""
_MARK = "bugzoo-records:"


def records(
    text: str, given: Sequence[Mapping[str, Any]] = (), strict: bool = True
) -> tuple[list[dict[str, Any]], str]:
    """Return (one record for each form, why the cell failed or ""). `given`: what each form's button handed in.

    Raises RuntimeError if the machine fails and, if `strict`, if it has no sandbox.
    """
    begun = [dict(answer) for answer in given]
    if text.strip() in ("", STUB, ANSWER):
        return [_plain(answer) for answer in begun], ""
    forms = {name: answer or {} for name, answer in zip_longest(NAMES, begun)}
    source = render("bugzoo.instructor", "diagnosis.py.j2", forms=repr(forms), text=repr(text), mark=repr(_MARK))
    limits = Limits(seconds=20, memory_mib=1024, processes=8)
    job = Job(source, file="diagnosis.py", limits=limits, watch=False)
    run = run_worker(isolate(job) if sandbox.needed(strict) else job)
    if run.spoilt:
        return [_plain(answer) for answer in begun], "the cell left files that cannot be read"
    if run.trouble:
        raise RuntimeError(run.trouble)
    lines = [line for line in run.stdout.splitlines() if line.startswith(_MARK)]
    try:
        message = json.loads(lines[-1].removeprefix(_MARK))
        return [_plain(record) for record in message["records"]], str(message["problem"])
    except (IndexError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [_plain(answer) for answer in begun], f"the cell did not finish ({run.outcome})"


def overridden(given: Sequence[Mapping[str, Any]], graded: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a note on each form whose button said something else than what counts, as a typed call came after it."""
    pairs = zip(given, graded, strict=False)  # `graded` also has an exercise's form
    return [
        f"finding {number} was handed in by the form and by a typed call; the typed call counts"
        for number, (answer, other) in enumerate(pairs, 1)
        if answer and _plain(dict(answer)) != other
    ]


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
        advice = "Grade on a machine that allows user namespaces. If you trust every student, add --trust."
        raise UserError(f"{why} Submissions would run with your own permissions. {advice}")
