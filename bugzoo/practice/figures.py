"""Accuracy, time and calibration, for each family and of everything."""

import statistics
from collections.abc import Sequence
from typing import Any

from bugzoo.practice.answers import NOTHING, Answer
from bugzoo.practice.memory import Standing

BINS = ((0, 49), (50, 69), (70, 89), (90, 100))
"""How sure somebody was, both ends in."""


def figures(now: Standing) -> dict[str, Any]:
    """{"all", "families": name -> the same, "calibration"}. A number that nothing is known of is None.

    Of each: `answers`, `right` (a share), `seconds` (of a card, the middle one), `asked` (answers with a confidence), `sure`
    (its mean, 0 to 100), `brier` (the mean; 0 is best, 0.25 is what always saying 50 earns), `over` (mean sureness less the
    share named of the same answers, in points of 100: above 0 is too sure), `due` and `new` (causes).
    """
    names = sorted({one.split("/")[0] for one in now.causes})
    inside = {*names, NOTHING}
    given = [one for one in now.answers if one.family in inside]
    due = [one.cause.split("/")[0] for one in now.due]
    new = [one.split("/")[0] for one in now.new]
    rows = {}
    for name in [*names, *([NOTHING] if any(one.family == NOTHING for one in given) else [])]:
        mine = [one for one in given if one.family == name]
        rows[name] = _figures(mine) | {"due": due.count(name), "new": new.count(name)}
    whole = _figures(given) | {"due": len(due), "new": len(new)}
    return {"all": whole, "families": rows, "calibration": calibration(given)}


def _figures(given: Sequence[Answer]) -> dict[str, Any]:
    said = [one for one in given if one.sure is not None]
    seconds = [one.seconds for one in given if one.kind == "card" and one.seconds is not None]
    found: dict[str, Any] = {"answers": len(given), "right": _share(given)}
    found["seconds"] = round(statistics.median(seconds), 1) if seconds else None
    found |= {"asked": len(said), "sure": None, "brier": None, "over": None}
    if said:
        sure = statistics.fmean(one.sure or 0.0 for one in said)
        found["sure"] = round(sure, 1)
        found["brier"] = round(statistics.fmean(one.brier or 0.0 for one in said), 3)
        found["over"] = round(sure - 100 * statistics.fmean(one.named for one in said), 1)
    return found


def _share(given: Sequence[Answer]) -> float | None:
    return round(sum(one.right for one in given) / len(given), 3) if given else None


def calibration(given: Sequence[Answer]) -> list[dict[str, Any]]:
    """For each bin of sureness: {"from", "to", "answers", "right" (a share, None where there are none)}."""
    rows = []
    for low, high in BINS:
        mine = [one for one in given if one.sure is not None and low <= round(one.sure) <= high]
        share = round(statistics.fmean(one.named for one in mine), 3) if mine else None
        rows.append({"from": low, "to": high, "answers": len(mine), "right": share})
    return rows
