"""What came of comparing two runs: the first thing that differs, with its place and its numbers."""

from dataclasses import asdict, dataclass
from typing import Any

from bugzoo.watching.same import apart, shown
from bugzoo.watching.tape import BEFORE

_ALSO = 4


@dataclass(frozen=True)
class Place:
    """One side of a difference."""

    value: str
    file: str | None = None
    line: int | None = None
    code: str = ""


@dataclass(frozen=True)
class Divergence:
    """What came of comparing two runs; false where nothing differs.

    `step`: the first one that differs, counted from 1; None where none does, or only what came after the last. `what`: a stage
    of `bugzoo.watching.tape.STAGES`, or "length", "ending", "evaluation", "after the run", "metric". `by`: "kept states" where
    steps were run again, "recorded numbers" where the difference may have begun earlier than where it shows.
    """

    step: int | None
    what: str = ""
    name: str = ""
    module: str | None = None
    here: Place = Place("")
    there: Place = Place("")
    largest: float | None = None
    share: float | None = None
    """Of the numbers in that place: the largest difference, and the part of them that differs."""
    also: tuple[str, ...] = ()
    steps: int = 0
    """Steps that both runs made."""
    replayed: int = 0
    """Steps that were run again to find it, both sides counted."""
    states: int = 0
    """Pairs of kept states that were compared."""
    by: str = "recorded numbers"
    tolerance: float = 0.0
    why: str = ""
    """Why no step was run again, where that would have told more."""
    compared: tuple[str, ...] = ()
    """All that was compared."""

    def __bool__(self) -> bool:
        return bool(self.what)

    def to_json(self) -> dict[str, Any]:
        return {"differs": bool(self), **asdict(self), "message": self.message}

    @property
    def message(self) -> str:
        exact = f"within {self.tolerance:g}" if self.tolerance else "to the last bit"
        if not self:
            return f"No difference: {self.steps} steps are equal {exact} in all that was compared: {', '.join(self.compared)}."
        at = f"Step {self.step} of {self.steps} is the first that differs"
        if self.step is None:
            at = f"All {self.steps} steps are equal {exact}; what differs comes after them"
        elif self.step > self.steps:
            at = f"All {self.steps} steps that both made are equal {exact}"
        within = f" of {self.module}" if self.module and self.module not in self.name else ""
        gap = [f"largest difference {self.largest:.3g}"] if self.largest is not None else []
        gap += [f"{100 * self.share:.3g} % of these numbers differ"] if self.share is not None else []
        lines = [f"{at}: {self.what}, {self.name}{within}."]
        for side, one in (("here ", self.here), ("there", self.there)):
            lines.append(f"  {side}  {one.value}" + (f"   line {one.line}: {one.code}" if one.line else ""))
        lines += [f"  {', '.join(gap)}"] if gap else []
        return "\n".join([*lines, *(f"  {one}" for one in self.also), *self._work()])

    def _work(self) -> list[str]:
        if self.why:
            return [f"  (from what was noted of each step: {self.why}; it may have begun earlier)"]
        return (
            [f"  (pairs of kept states compared: {self.states}, steps run again: {self.replayed})"]
            if self.replayed
            else []
        )

    def __str__(self) -> str:
        return self.message


def told(step: int, pairs: list[Any], pair: Any) -> Divergence:
    """A pair of entries that differ, and the others of its stage, in words and numbers."""
    one, other = pair
    main = one or other
    values = [shown(side.value) if side is not None else "nothing of the kind" for side in pair]
    gap: tuple[float | None, float | None] = (None, None)
    if one is not None and other is not None and one.stage == "random state":
        values = ["random numbers were drawn differently before this"] * 2
    elif one is not None and other is not None:
        *values, largest, share = apart(one.value, other.value)
        gap = (largest, share)
        if one.name != other.name:
            values = [f"{one.name}: {values[0]}", f"{other.name}: {values[1]}"]
    elif main.stage == "forward":
        values = [
            f"{side.name}: {shown(side.value)}" if side is not None else text
            for side, text in zip(pair, values, strict=True)
        ]
    places = [
        Place(text, side.file, side.line, side.code) if side is not None else Place(text)
        for text, side in zip(values, pair, strict=True)
    ]
    rest = (
        list(dict.fromkeys((a or b).name for a, b in pairs if (a or b).name != main.name))
        if main.stage in BEFORE
        else []
    )
    more = f" and {len(rest) - _ALSO} more" if len(rest) > _ALSO else ""
    also = (f"so do {', '.join(rest[:_ALSO])}{more}",) if rest else ()
    return Divergence(step, main.stage, main.name, main.module, places[0], places[1], gap[0], gap[1], also)
