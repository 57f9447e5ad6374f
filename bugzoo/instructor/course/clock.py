"""Times as people and LMSs write them: with an offset, with a zone's name, or with neither."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_TIME = re.compile(r"^(?P<day>\d{4}-\d\d-\d\d)[ T](?P<time>\d\d:\d\d(:\d\d)?)(\.\d+)?\s*(?P<zone>[^\s].*)?$", re.ASCII)
_OFFSET = re.compile(r"^(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?$")


def zone(name: str) -> tzinfo | None:
    """The zone of an offset (`+02:00`), of `Z` and `UTC`, and of a name (`Europe/Berlin`); None for anything else."""
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    if match := _OFFSET.match(name):
        size = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
        return timezone(-size if match["sign"] == "-" else size) if size < timedelta(hours=24) else None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder's name, a path that leads out of the data base
        return None


def read(text: str, usual: tzinfo) -> datetime | None:
    """The time that a hand-in's stamp tells; None where it is none. `usual` is the zone of one that says none.

    A short name such as `CEST` is taken where it is that of `usual` at that time: elsewhere it may mean another zone.
    """
    match = _TIME.match(text.strip())
    if not match:
        return None
    try:
        bare = datetime.fromisoformat(f"{match['day']} {match['time']}")
    except ValueError:
        return None
    named = (match["zone"] or "").strip()
    if not named:
        return bare.replace(tzinfo=usual)
    own = zone(named)
    if own is None:
        own = usual if bare.replace(tzinfo=usual).tzname() == named else None
    return bare.replace(tzinfo=own) if own else None


def said(when: datetime) -> str:
    """`2026-10-05 23:59 (UTC+02:00)`: the offset is told, since names of zones are not known everywhere."""
    offset = when.strftime("%z")
    return when.strftime("%Y-%m-%d %H:%M") + (f" (UTC{offset[:3]}:{offset[3:5]})" if offset.strip("+-0") else " (UTC)")
