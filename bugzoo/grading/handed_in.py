"""What the forms of an exercise hold, as one record: what is graded, and what was handed in last."""

from typing import Any

from bugzoo import record


def counted(forms: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the first complete diagnosis, of this kernel or an earlier one; None before there is one."""
    records = record.first_diagnoses(forms)
    return _of_all(records) if records else None


def last(forms: tuple[str, ...]) -> dict[str, Any] | None:
    """Return what was handed in last, complete or not; None if nothing was."""
    records = [record.diagnosis(ticket) for ticket in forms]
    return _of_all([diagnosis or {} for diagnosis in records]) if any(records) else None


def _of_all(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one record of the forms' records; of several with the time of the latest."""
    if len(found) == 1:
        return found[0]
    return {"findings": found, "at": max(diagnosis.get("at", 0.0) for diagnosis in found)}
