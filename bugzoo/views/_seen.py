"""`Seen`: base of a view's record, with the numbers that the view's instruments measured beside its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from bugzoo.diagnostics.numbers import Measured
from bugzoo.running.result import Run


@dataclass(kw_only=True)
class Seen(Measured):
    """A view's own numbers and what its picture needs; `instruments`: `instrument.key` -> value.

    Every field has a default: a reading may hold instruments' numbers alone.
    """

    instruments: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_mapping(cls, numbers: "Measured | Mapping[str, Any]") -> Self:
        """Return the record of a view's reading."""
        if isinstance(numbers, cls):
            return numbers
        values = dict(numbers)
        record = super().from_mapping(values)
        record.instruments = {key: value for key, value in values.items() if "." in key}
        return record

    def measured(self) -> dict[str, Any]:
        """Return key -> value, the instruments' among them: the format of a view's reading."""
        values = super().measured()
        return {key: value for key, value in values.items() if key != "instruments"} | dict(self.instruments)


def nothing(run: Run) -> Seen:
    """`measure` of a view that has no number of its own: its instruments measure all of them."""
    return Seen()
