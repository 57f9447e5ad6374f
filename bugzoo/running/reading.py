"""`Reading`: the result of one instrument on one run, as it is passed between modules and processes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_WHY = "not_applicable"


@dataclass(frozen=True)
class Reading:
    """The numbers that an instrument measured, or the reason why it measured nothing (`why_not`).

    Numbers are floats. A place, a name or a list of names is text.
    """

    numbers: Mapping[str, Any] = field(default_factory=dict)
    why_not: str = ""

    @property
    def applies(self) -> bool:
        """Return whether the instrument measured anything."""
        return not self.why_not

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, or {"not_applicable": why}: the format for storage and between processes."""
        return {_WHY: self.why_not} if self.why_not else dict(self.numbers)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Reading":
        """Return the reading that `to_json` wrote."""
        return cls(why_not=str(found[_WHY]) or "no reason was given") if _WHY in found else cls(dict(found))


def to_json(readings: Mapping[str, Reading]) -> dict[str, dict[str, Any]]:
    """Return {instrument: numbers or reason} for several readings."""
    return {name: reading.to_json() for name, reading in readings.items()}


def from_json(found: Mapping[str, Any]) -> dict[str, Reading]:
    """Read what `to_json` wrote. Invalid entries are left out, because a script's process may have written anything."""
    return {str(name): Reading.from_json(entry) for name, entry in found.items() if isinstance(entry, Mapping)}


def checked(found: Any) -> dict[str, Reading]:
    """Return the result of an `after` function. Raises TypeError for anything but {name: Reading}."""
    if isinstance(found, dict) and all(isinstance(value, Reading) for value in found.values()):
        return found
    kinds = (
        sorted({type(value).__name__ for value in found.values()}) if isinstance(found, dict) else type(found).__name__
    )
    raise TypeError(f"an `after` function returns {{name: Reading}}, such as measure_all does; this one gave {kinds}")
