"""What part of a repair earns: the curve from nothing to everything, and what each of several faults weighs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bugzoo import faults
from bugzoo.errors import UserError, unknown
from bugzoo.grading.grade import HALF
from bugzoo.grading.model import Result

MOST_KNOTS, MOST_WEIGHT = 10, 100


@dataclass(frozen=True)
class Credit:
    """`partial` are the shares of the repair's points at even distances on the way from no fault repaired to all of them, the
    last one for all but nothing; whole repairs earn everything. `weights` are of faults, by id, or of families; 1 where none is
    said. Raises UserError for what is no such thing.
    """

    partial: tuple[float, ...] = (HALF,)
    weights: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        curve = (0.0, *self.partial)
        rising = all(one <= other for one, other in zip(curve, self.partial, strict=False))
        if not 1 <= len(self.partial) <= MOST_KNOTS or not all(0 <= one < 1 for one in self.partial) or not rising:
            raise UserError(
                f"partial = {list(self.partial)} is not allowed; it is a share from 0 to below 1, or at most {MOST_KNOTS} that "
                "do not fall: 0.6, or 0.1, 0.5 for a steep curve; 0 gives nothing for a part."
            )
        known = faults.catalogue()
        families = {fault.family for fault in known.values()}
        for name, weight in self.weights:
            if name not in known and name not in families:
                raise unknown("fault or family with a weight", name, sorted({*known, *families}), "bugzoo list faults")
            if not (math.isfinite(weight) and 0 < weight <= MOST_WEIGHT):
                raise UserError(
                    f"The weight {weight:g} of {name} is not allowed; it is a number above 0, at most {MOST_WEIGHT}."
                )

    def weight(self, fault_id: str) -> float:
        """The fault's own weight, else its family's, else 1."""
        found = dict(self.weights)
        return found.get(fault_id, found.get(fault_id.rpartition("/")[0], 1.0))

    def parts(self, ids: Sequence[str]) -> list[float]:
        """What each of the faults makes of the whole; they add up to 1."""
        weights = [self.weight(name) for name in ids]
        return [weight / sum(weights) for weight in weights]

    def share(self, result: Result, ids: Sequence[str]) -> float:
        """The share of the repair's points, 0 to 1, of a result of the grader for a program with these faults."""
        if result.share in (0.0, 1.0):
            return result.share
        done = sum(part for name, part in zip(ids, self.parts(ids), strict=True) if name in result.repaired)
        return round(self.curve(done if result.repaired else min(result.share / HALF, 1.0)), 4)

    def curve(self, done: float) -> float:
        """The share that is earned when so much of the whole (0 to 1) is repaired."""
        knots, place = (0.0, *self.partial), done * len(self.partial)
        low = min(int(place), len(self.partial) - 1)
        return knots[low] + (place - low) * (knots[low + 1] - knots[low])

    def to_json(self) -> dict[str, Any]:
        return {"partial": list(self.partial), "weights": dict(self.weights)}

    @classmethod
    def of(cls, partial: Any = None, weights: Any = None) -> "Credit":
        """From what a file or an option says: a number or a list of them, and a table. Raises UserError."""
        given: list[Any] = [HALF] if partial is None else partial if isinstance(partial, list) else [partial]
        if not all(type(one) in (int, float) for one in given):
            raise UserError(f"partial = {partial!r} is not allowed; it is a number or a list of numbers.")
        table = {} if weights is None else weights
        if not isinstance(table, Mapping) or not all(type(one) in (int, float) for one in table.values()):
            raise UserError(f'weights = {weights!r} is not allowed; it is a table of numbers, {{ "loss" = 2 }}.')
        return cls(tuple(map(float, given)), tuple((str(name), float(one)) for name, one in table.items()))
