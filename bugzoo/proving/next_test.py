"""The next test: the catalogue's discriminating test between a suspect and a look-alike."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bugzoo import faults
from bugzoo.diagnostics.causes import rows
from bugzoo.errors import unknown
from bugzoo.faults.model import LookAlike


@dataclass(frozen=True)
class NextTest:
    """A test, and its results for the suspect and for the look-alike (`against`)."""

    test: str
    against: str
    if_this: str
    if_other: str


def check_cause(name: str) -> None:
    """Check a fault's id or family, as a typo would call every commit of a bisection good. Raises UserError."""
    if name.startswith("contracts/"):
        from bugzoo.contracts import contract  # imports torch

        contract(name)
        return
    every = {*faults.catalogue(), *rows()}
    if name.rstrip("/") not in {*every, *(cause.split("/")[0] for cause in every)}:
        raise unknown("cause", name, list(faults.catalogue()), "bugzoo list faults")


def next_test(cause: str, others: Sequence[str] = ()) -> NextTest | None:
    """Return a suspect's next test, preferably against one of the `others`; None if the catalogue has none."""
    catalogue = faults.catalogue()
    look_alikes = catalogue[cause].look_alikes if cause in catalogue else ()
    for other in others:
        for look_alike in look_alikes:
            if look_alike.other == other:
                return _told(look_alike)
        for look_alike in catalogue[other].look_alikes if other in catalogue else ():
            if look_alike.other == cause:
                return NextTest(look_alike.test, other, _sentence(look_alike.there), _sentence(look_alike.here))
    # a trap is not a fault: with evidence for the suspect, first decide between two faults
    return _told(min(look_alikes, key=lambda one: one.other.startswith("traps/"))) if look_alikes else None


def _told(one: LookAlike) -> NextTest:
    return NextTest(one.test, one.other, _sentence(one.here), _sentence(one.there))


def _sentence(text: str) -> str:
    """Return the text without the claim for the proof, which is about instruments' numbers."""
    plain = re.sub(r"[\s:;,]*(?:\band\b\s*)?`[^`]*`", "", text).strip(" :;,")
    return f"{plain.rstrip('.')}." if plain else text
