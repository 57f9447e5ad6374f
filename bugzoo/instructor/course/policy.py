"""The policy of an assignment: when it is due, what a late day costs, when nothing counts any more, and who has longer.

    due = 2026-10-05T23:59:00+02:00          # or without +02:00, and zone = "Europe/Berlin"
    late_days = 2                            # free for everybody
    late_penalty = 0.1                       # of the points, for each day begun after those
    closes = 2026-10-12T23:59:00+02:00
    file_times = false                       # whether a file's own time counts where nothing better is known
    attempts = [10, 7, 5]                    # three hand-ins count: the second is worth 7 tenths, the third a half
    extensions = { ada = "2026-10-08T23:59:00" }

An attempt is a hand-in that was graded, another file than those before: an LMS gives out the last one only, so that one is
known of each call of `bugzoo grade`. The best of those that count stands. What could not be graded, is no Python, or is the
program as it was handed out costs no attempt.
"""

import difflib
import itertools
import math
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.instructor.course import clock

KEYS = ("due", "zone", "late_days", "late_penalty", "closes", "file_times", "attempts", "extensions")
DAY = timedelta(days=1)
MOST_DAYS = 366
MOST_ATTEMPTS = 100


@dataclass(frozen=True)
class Policy:
    """What holds for a class. Without `due` nobody is late."""

    path: Path | None = None
    due: datetime | None = None
    zone: tzinfo | None = None
    late_days: int = 0
    late_penalty: float = 0.0
    closes: datetime | None = None
    file_times: bool = False
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    attempts: tuple[float, ...] = ()
    """What the first hand-in that could be graded is worth, the second, and so on; empty where the last one counts whole."""

    def due_of(self, student: str) -> datetime | None:
        """When this student's hand-in is due."""
        return self.extensions.get(student, self.due)

    def closes_of(self, student: str) -> datetime | None:
        """After this nothing of the student's counts: never before the student's own due date."""
        own = self.extensions.get(student)
        return max(self.closes, own) if self.closes and own else self.closes

    def check(self, students: Collection[str]) -> None:
        """Raises UserError for an extension of somebody who is not in the class: a slip of the pen would cost points."""
        known(self.path, "an extension", self.extensions, students)


def read(path: Path) -> Policy:
    """The policy of a file. Raises UserError for what is no policy, with what is allowed."""
    found = toml(path)
    for name in found:
        if name not in KEYS:
            raise UserError(f"{path}: there is no key {name!r}. A policy has {', '.join(KEYS)}.")
    named = _kind(path, found, "zone", str, "a name such as Europe/Berlin or an offset such as +02:00")
    own = clock.zone(named) if named is not None else None
    if named is not None and own is None:
        raise UserError(
            f"{path}: zone {named!r} is not known here. It is a name such as Europe/Berlin or an offset such as +02:00."
        )
    due = _time(path, "due", found["due"], own) if "due" in found else None
    needing = [name for name in ("late_days", "late_penalty", "extensions") if name in found]
    if due is None and needing:
        raise UserError(f"{path}: {needing[0]} says nothing without `due`. Add due = 2026-10-05T23:59:00+02:00.")
    closes = _time(path, "closes", found["closes"], own or (due.tzinfo if due else None)) if "closes" in found else None
    if due and closes and closes < due:
        raise UserError(f"{path}: it closes at {clock.said(closes)}, before it is due, {clock.said(due)}.")
    extensions = _kind(path, found, "extensions", dict, 'a table such as { ada = "2026-10-08T23:59:00" }') or {}
    longer = {str(name): _extended(path, str(name), value, due, own) for name, value in extensions.items()}
    return Policy(
        path,
        due,
        own or (due.tzinfo if due else closes.tzinfo if closes else None),
        int(_number(path, found, "late_days", MOST_DAYS, whole=True)),
        _number(path, found, "late_penalty", 1),
        closes,
        bool(_kind(path, found, "file_times", bool, "true or false")),
        longer,
        _attempts(path, found.get("attempts", [])),
    )


def _attempts(path: Path, value: Any) -> tuple[float, ...]:
    """Numbers that do not rise, the first above 0. Raises UserError."""
    found = value if isinstance(value, list) else None
    good = (
        found is not None
        and len(found) <= MOST_ATTEMPTS
        and all(type(one) in (int, float) and math.isfinite(one) and one >= 0 for one in found)
    )
    falling = good and all(one >= other for one, other in itertools.pairwise(found or ()))
    if not falling or (found and not found[0] > 0):
        raise UserError(
            f"{path}: attempts = {value!r} is not allowed; it is a list of at most {MOST_ATTEMPTS} numbers that do not rise, "
            "what the first, second, ... hand-in is worth: [10, 7, 5]."
        )
    return tuple(float(one) for one in found or ())


def known(path: Path | None, what: str, names: Collection[str], students: Collection[str]) -> None:
    """Raises UserError for the first of `names` that is no student, with the one that was perhaps meant."""
    for name in names:
        if name not in students:
            near = difflib.get_close_matches(name, students, 1, 0.6)
            guess = f" Did you mean {near[0]}?" if near else ""
            raise UserError(
                f"{path} has {what} for {name!r}, who is neither in the class nor among the hand-ins.{guess} Students are "
                "called as in the first column of the table that `bugzoo grade` prints."
            )


def toml(path: Path) -> dict[str, Any]:
    """A TOML file. Raises UserError."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UserError(f"{path} could not be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} could not be read: it is no TOML ({error}).") from None


def _kind(path: Path, found: Mapping[str, Any], name: str, kind: type, allowed: str) -> Any:
    value = found.get(name)
    if value is not None and not isinstance(value, kind):
        raise UserError(f"{path}: {name} = {value!r} is not allowed; it is {allowed}.")
    return value


def _number(path: Path, found: Mapping[str, Any], name: str, most: float, whole: bool = False) -> float:
    value = found.get(name, 0)
    kind = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kind) or not math.isfinite(value) or not 0 <= value <= most:
        raise UserError(
            f"{path}: {name} = {value!r} is not allowed; it is a {'whole ' if whole else ''}number from 0 to {most:g}."
        )
    return value


def _time(path: Path, name: str, value: Any, own: tzinfo | None) -> datetime:
    """A date with a time, of TOML's own kind or as a text. Raises UserError for one that names no zone."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value) if len(value.strip()) > len("2026-10-05") else value
        except ValueError:
            pass
    if not isinstance(value, datetime):
        raise UserError(
            f"{path}: {name} = {str(value)[:60]!r} is not allowed; it is a day and a time, 2026-10-05T23:59:00+02:00."
        )
    if value.tzinfo is None and own is None:
        raise UserError(
            f"{path}: {name} = {value.isoformat()} does not say in which zone. Write {value.isoformat()}+02:00, or add "
            'zone = "Europe/Berlin".'
        )
    return value if value.tzinfo else value.replace(tzinfo=own)


def _extended(path: Path, student: str, value: Any, due: datetime | None, own: tzinfo | None) -> datetime:
    """One student's due date; of a day without a time the time is that of `due`."""
    if due is None:
        raise UserError(f"{path}: an extension says nothing without `due`.")
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value.strip())
        except ValueError:
            pass
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(due.hour, due.minute, due.second))
    found = _time(path, f"the extension of {student}", value, own or due.tzinfo)
    if found < due:
        raise UserError(
            f"{path}: the extension of {student}, {clock.said(found)}, ends before it is due for all, {clock.said(due)}."
        )
    return found
