"""The record that a form of an assignment keeps in its cell's output: written by the form, read by both graders.

A saved notebook holds it, so nothing has to be typed. A record read from a submission is untrusted data: types and
lengths are checked, and nothing in it is run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MIME, FORMAT = "application/vnd.bugzoo.diagnosis+json", "bugzoo-diagnosis/1"
FORMS = ("first", "second", "third")
"""Names of the forms in a notebook. There are always three, so the number gives nothing away."""
LINE = 'c.Autograde.sanitize_preprocessors.insert(0, "bugzoo.instructor.autograde.FormRecords")'
"""The line of `nbgrader_config.py` with which nbgrader reads the records too."""
LONGEST, MOST_VIEWS, MOST_LINE = 200, 50, 10**6
"""Most characters of a text in a record, most views, and the highest line number."""


@dataclass(frozen=True)
class FormRecord:
    """What one press of Hand in wrote down. An empty cause means that the finding was withdrawn."""

    form: int
    """1 to 3."""
    ticket: str
    at: float
    """When it was handed in: seconds since 1970 on the student's machine."""
    cause: str
    place: int | None
    evidence: tuple[str, ...]
    """Views, in the order in which they were opened."""

    def given(self) -> dict[str, Any]:
        """Return the three graded fields, as `hand_in` takes them; empty for a withdrawn finding."""
        return {"cause": self.cause, "place": self.place, "evidence": list(self.evidence)} if self.cause else {}


def output(record: FormRecord) -> dict[str, Any]:
    """Return the entry of an output's data that holds a record."""
    value = {"format": FORMAT, "ticket": record.ticket, "form": record.form, "at": record.at, "cause": record.cause}
    return {MIME: value | {"place": record.place, "evidence": list(record.evidence)}}


def read(notebook: Mapping[str, Any]) -> tuple[list[FormRecord], list[str]]:
    """Return the records in a notebook's outputs, in its order, and one note on each kind of unreadable record."""
    records, notes = [], []
    for value in _values(notebook):
        record = _record(value)
        if isinstance(record, str):
            notes.append(f"what a form kept in its output was ignored: {record}")
        else:
            records.append(record)
    return records, list(dict.fromkeys(notes))


def latest(records: Iterable[FormRecord], ticket: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what each of the three forms says ({} for nothing), and a note on records of another ticket.

    Of several records of one form the one handed in last counts, and of equal times the later one in the notebook.
    """
    by_form: dict[int, FormRecord] = {}
    other = ""
    records = records if ticket else ()  # of an exercise, whose form is graded by the typed call
    for record in records:
        if record.ticket != ticket:
            other = other or record.ticket[:40] or "none"
        elif record.form not in by_form or record.at >= by_form[record.form].at:
            by_form[record.form] = record
    answers = [by_form[form].given() if form in by_form else {} for form in range(1, len(FORMS) + 1)]
    note = f"what a form kept for another ticket was ignored ({other!r}, {ticket!r} was expected)"
    return answers, [note] if other else []


def call(form: int, given: Mapping[str, Any]) -> str:
    """Return the call that hands the same in by code: literals only, so that nothing in a record can run."""
    place = None if given["place"] is None else int(given["place"])
    written = {"cause": str(given["cause"]), "place": place, "evidence": [str(name) for name in given["evidence"]]}
    return f"{FORMS[form - 1]}.hand_in({', '.join(f'{name}={value!a}' for name, value in written.items())})"


def _values(notebook: Mapping[str, Any]) -> list[Any]:
    values = []
    for cell in _list(notebook, "cells"):
        for entry in _list(cell, "outputs"):
            data = entry.get("data") if isinstance(entry, Mapping) else None
            if isinstance(data, Mapping) and MIME in data:
                values.append(data[MIME])
    return values


def _list(of: Any, name: str) -> Sequence[Any]:
    value = of.get(name) if isinstance(of, Mapping) else None
    return value if isinstance(value, list) else ()


def _record(value: Any) -> FormRecord | str:
    """Return the record, or why it cannot be read."""
    if not isinstance(value, Mapping):
        return "it is not a record"
    if value.get("format") != FORMAT:
        return f"its format is not {FORMAT}; a newer bugzoo may have written it"
    form, ticket, cause, at, place, views = (value.get(name) for name in _FIELDS)
    if not isinstance(form, int) or not _whole(form, 1, len(FORMS)):
        return f"it is not of one of the {len(FORMS)} forms"
    if not isinstance(ticket, str) or not isinstance(cause, str) or max(len(ticket), len(cause)) > LONGEST:
        return f"its ticket or cause is not a text of at most {LONGEST} characters"
    when = float(at) if isinstance(at, int | float) and 0 <= at < 1e12 else 0.0  # also where it is NaN
    names = [name[:LONGEST] for name in views[:MOST_VIEWS] if isinstance(name, str)] if isinstance(views, list) else []
    line = place if _whole(place, 1, MOST_LINE) else None
    return FormRecord(form, ticket, when, cause.strip(), line, tuple(names))


_FIELDS = ("form", "ticket", "cause", "at", "place", "evidence")


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
