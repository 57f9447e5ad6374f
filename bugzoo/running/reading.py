"""`Reading`: what one instrument has to say of one run, as it is handed from room to room and across processes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_WHY = "not_applicable"


@dataclass(frozen=True)
class Reading:
    """The numbers that an instrument measured, or the reason why there are none (`why_not`).

    Numbers are floats; a place, a name or a list of names comes as text beside them.
    """

    numbers: Mapping[str, Any] = field(default_factory=dict)
    why_not: str = ""

    @property
    def applies(self) -> bool:
        """Did the instrument measure anything?"""
        return not self.why_not

    def to_json(self) -> dict[str, Any]:
        """The numbers, or {"not_applicable": why}: how a reading is kept and how it crosses a process border."""
        return {_WHY: self.why_not} if self.why_not else dict(self.numbers)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Reading":
        """The reading that `to_json` wrote."""
        return cls(why_not=str(found[_WHY]) or "no reason was given") if _WHY in found else cls(dict(found))


def to_json(readings: Mapping[str, Reading]) -> dict[str, dict[str, Any]]:
    """{instrument: numbers or reason} of several readings."""
    return {name: reading.to_json() for name, reading in readings.items()}


def from_json(found: Mapping[str, Any]) -> dict[str, Reading]:
    """What `to_json` wrote. An entry of another kind is left out: a script's process may have written anything."""
    return {str(name): Reading.from_json(one) for name, one in found.items() if isinstance(one, Mapping)}


def checked(found: Any) -> dict[str, Reading]:
    """What an `after` function returned. Raises TypeError where that is anything but {name: Reading}."""
    if isinstance(found, dict) and all(isinstance(one, Reading) for one in found.values()):
        return found
    kinds = sorted({type(one).__name__ for one in found.values()}) if isinstance(found, dict) else type(found).__name__
    raise TypeError(f"an `after` function returns {{name: Reading}}, such as measure_all does; this one gave {kinds}")
