"""The test to make next: the one that tells a suspect from another fault that looks like it, from the catalogue."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bugzoo import faults
from bugzoo.diagnostics.causes import CAUSES
from bugzoo.errors import unknown
from bugzoo.faults.model import LookAlike


@dataclass(frozen=True)
class NextTest:
    """What to do, and what it shows if it is the suspect, and if it is the fault that looks like it (`against`)."""

    test: str
    against: str
    if_this: str
    if_other: str


def check_cause(name: str) -> None:
    """A fault's id or a family: a slip would call every commit of a bisection good. Raises UserError."""
    every = {*faults.catalogue(), *CAUSES}
    if name.rstrip("/") not in {*every, *(one.split("/")[0] for one in every)}:
        raise unknown("cause", name, list(faults.catalogue()), "bugzoo list faults")


def next_test(cause: str, others: Sequence[str] = ()) -> NextTest | None:
    """For a suspect, before all against one of the `others` that are suspected; None where the catalogue knows none."""
    catalogue = faults.catalogue()
    own = catalogue[cause].look_alikes if cause in catalogue else ()
    for other in others:
        for one in own:
            if one.other == other:
                return _told(one)
        for one in catalogue[other].look_alikes if other in catalogue else ():
            if one.other == cause:
                return NextTest(one.test, other, _sentence(one.there), _sentence(one.here))
    # a trap is nothing wrong: whoever has evidence against the suspect asks first which of two faults it is
    return _told(min(own, key=lambda one: one.other.startswith("traps/"))) if own else None


def _told(one: LookAlike) -> NextTest:
    return NextTest(one.test, one.other, _sentence(one.here), _sentence(one.there))


def _sentence(text: str) -> str:
    """Without the claim that a proof checks: it speaks of our instruments' numbers."""
    plain = re.sub(r"[\s:;,]*(?:\band\b\s*)?`[^`]*`", "", text).strip(" :;,")
    return f"{plain.rstrip('.')}." if plain else text
