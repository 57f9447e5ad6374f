"""What happened, in the order in which it was written down: one table of the record that only grows.

Practice reads it. Whoever has somebody answer something appends an event with `record.event`: a card, an exercise, a drill
(an interview), each bug of a hunt. SQLite itself refuses to change or to take away a row.
"""

import json
import sqlite3
from typing import Any

KINDS = ("card", "exercise", "drill", "hunt", "forgotten")
"""`card`, `drill` and `hunt` hold {"cause": a fault's id, "right": bool} and, where it is known, "program", "seconds" and
"sure" (0 to 100); a `hunt` appends one event for each of its bugs. `exercise` holds {"part", "status"}, its key is the
exercise; `forgotten` takes back what was noted of the exercise that is its key."""

TABLES = (
    "create table events (id integer primary key autoincrement, at real not null, kind text not null, "
    "key text not null, value text not null)",
    "create trigger events_change_never before update on events "
    "begin select raise(abort, 'an event is never changed'); end",
    "create trigger events_stay before delete on events begin select raise(abort, 'an event is never taken away'); end",
)
"""Since version 3 of the record."""

APPEND = "insert into events (at, kind, key, value) values (?, ?, ?, ?)"

_SAT = ("finished", "time over", "given up")


def row(at: float, kind: str, key: str, value: dict[str, Any]) -> tuple[float, str, str, str]:
    """The values of a row. Raises ValueError for a kind that there is not."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of event; it is one of {', '.join(KINDS)}")
    return at, kind, key, json.dumps(value)


def drilled(result: dict[str, Any]) -> dict[str, Any] | None:
    """The event of an interview that ended with this report; None where it says nothing about the candidate.

    Right is who named the cause in the end and handed in a program that is healthy.
    """
    told, points = result.get("debrief", {}), {one["name"]: one for one in result.get("rows", ())}
    if result.get("status") not in _SAT or "case" not in told or not {"cause", "repair"} <= points.keys():
        return None
    named, repaired = points["cause"]["points"] > 0, points["repair"]["points"] >= points["repair"]["of"]
    value = {"cause": told["case"], "program": told.get("program", ""), "seconds": result.get("seconds", 0.0)}
    value |= {"right": named and repaired, "named": named, "repaired": repaired, "status": result["status"]}
    sure = result.get("sure")
    return value if sure is None else value | {"sure": sure}


def take_over(connection: sqlite3.Connection) -> None:
    """Append what a record of version 2 knows, the oldest first: cards, attempts at exercises, interviews."""
    found: list[tuple[float, str, str, str]] = []
    for at, ticket, value in connection.execute("select at, ticket, value from notes where kind = 'card'"):
        found.append((at, "card", ticket, value))
    for at, exercise, part, status in connection.execute("select at, exercise, kind, status from attempts"):
        found.append(row(at, "exercise", exercise, {"part": part, "status": status}))
    for started, ticket, result in connection.execute("select started, ticket, result from interviews"):
        report = json.loads(result) if result else {}
        if value := drilled(report):
            found.append(row(started + float(report.get("seconds") or 0.0), "drill", ticket, value))
    connection.executemany(APPEND, sorted(found, key=lambda one: one[0]))
