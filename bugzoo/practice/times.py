"""Times that never go back, made of a clock that may have been set."""

from bisect import bisect_right
from collections.abc import Sequence


def steady(times: Sequence[float], now: float) -> list[float]:
    """The times of events in the order in which they were written, none before the one above it, none after `now`.

    The longest run of them that never goes back is believed: a clock that stood in another year for one evening changes
    nothing beside that evening. Every other event takes the time of the last one that is believed; one that lies in the
    future, with nothing believed behind it, takes `now`. All in seconds since 1970.
    """
    believed = _longest([at if at <= now else None for at in times])
    last_believed = max(believed, default=-1)
    found: list[float] = []
    before = times[min(believed)] if believed else now
    for place, at in enumerate(times):
        if place in believed:
            before = at
        found.append(now if place > last_believed and at > now else before)
    for place in range(1, len(found)):  # what stands behind one in the future was written after it
        found[place] = max(found[place], found[place - 1])
    return found


def _longest(times: Sequence[float | None]) -> set[int]:
    """Places of the longest run that never goes back, in n log n steps."""
    ends: list[float] = []  # the earliest end of a run of each length, and where it stands
    places: list[int] = []
    before: list[int] = []
    for place, at in enumerate(times):
        length = 0 if at is None else bisect_right(ends, at)
        before.append(places[length - 1] if length else -1)
        if at is None:
            continue
        if length == len(ends):
            ends.append(at)
            places.append(place)
        else:
            ends[length], places[length] = at, place
    found, place = set(), places[-1] if places else -1
    while place >= 0:
        found.add(place)
        place = before[place]
    return found
