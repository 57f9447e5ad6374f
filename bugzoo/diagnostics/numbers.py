"""The record of a number, and of all the numbers of an instrument: each is a field with its label and its usual range.

    @dataclass(kw_only=True)
    class Numbers(Measured):
        ratio: float = number("loss at the end over that at the start", (0, 0.5))  # always measured
        later: float | None = optional("loss in the second half over that in the first", (0, 0.9))
        classes: float | None = None  # an inner number: the judge reads it, and no learner

`measure` returns it, and `judge` reads it. Views, tables, pages and sentences are drawn from it.
"""

import ast
import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

from bugzoo.diagnostics.verdict import Verdict
from bugzoo.syntax import parse

ANY = math.inf
"""The open end of a usual range."""
OWN = "the view measures it itself, on the batch or the run that it draws"
FLAG = "a flag that names a cause; the view shows the number that moves with it"
TWICE = "another row has the same number"


@dataclasses.dataclass(frozen=True)
class Number:
    """What is said of a number, wherever it is shown.

    `label`: what is measured, with its unit; it names no cause.
    `usual`: (smallest, largest) value of healthy runs, -ANY or ANY where it is open; in words where another number of
    the run says it. None: a fact about this run, such as a count, which has no usual range.
    `view`: the view in which it stands, if that is another than the instrument's.
    `hidden`: why it has no row there; the view shows it by another number.
    `source`: `instrument.key`, or the key of a number that a view measures itself.
    """

    label: str = ""
    usual: tuple[float, float] | str | None = None
    view: str = ""
    hidden: str = ""
    source: str = ""

    @property
    def range(self) -> tuple[float, float] | None:
        """The usual range in numbers; None for a fact, and for one in words."""
        return self.usual if isinstance(self.usual, tuple) else None

    def value(self, numbers: Mapping[str, Any]) -> Any:
        """Return the number; None if it was not measured."""
        value = numbers.get(self.source)
        return None if value in (None, "") or (isinstance(value, float) and math.isnan(value)) else value

    def outside(self, numbers: Mapping[str, Any]) -> bool:
        """Return whether the number is known and outside its usual range."""
        value = self.value(numbers)
        if self.range is None or not isinstance(value, int | float):
            return False
        return not self.range[0] <= value <= self.range[1]

    def usual_text(self, percent: bool = False) -> str:
        """Return the usual range as text; "" for a fact."""
        if not isinstance(self.usual, tuple):
            return self.usual or ""
        low, high = (f"{digits(100 * end)}%" if percent else digits(end) for end in self.usual)
        if low == high:
            return low
        if self.usual[0] == -ANY:
            return f"up to {high}"
        return f"from {low}" if self.usual[1] == ANY else f"{low} to {high}"

    def sentence(self) -> str:
        """Return the usual range as a sentence has it: a share in percent."""
        return self.usual_text(percent=self.label.startswith("share"))


def digits(value: Any) -> str:
    """Return a value as people write it: whole numbers without a point, others with four digits."""
    if not isinstance(value, int | float):
        return str(value)
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e6
    return f"{value:.0f}" if whole else f"{value:.4g}"


def number(label: str = "", usual: tuple[float, float] | str | None = None, *, view: str = "", hidden: str = "") -> Any:
    """Return the field of a number that is always measured. The arguments are those of `Number`."""
    return dataclasses.field(metadata={"number": Number(label, usual, view, hidden)})


def optional(
    label: str = "", usual: tuple[float, float] | str | None = None, *, view: str = "", hidden: str = ""
) -> Any:
    """Return the field of a number that some runs do not have: None there. The arguments are those of `Number`."""
    return dataclasses.field(default=None, metadata={"number": Number(label, usual, view, hidden)})


Record = TypeVar("Record", bound="Measured")


@dataclasses.dataclass(kw_only=True)
class Measured:
    """Base of an instrument's record. A field that is None was not measured."""

    @classmethod
    def from_mapping(cls: type[Record], numbers: "Measured | Mapping[str, Any]") -> Record:
        """Return the record of numbers that come from another process. Raises TypeError if one that is always there is not."""
        if isinstance(numbers, cls):
            return numbers
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{key: value for key, value in dict(numbers).items() if key in names})

    def __getitem__(self, key: str) -> Any:
        """Return a number by its key, as notebooks read it that were handed out; None for what was not measured."""
        return vars(self)[key]

    def keys(self) -> list[str]:
        """Return the keys of what was measured."""
        return list(self.measured())

    def measured(self) -> dict[str, Any]:
        """Return key -> value of what was measured: the format between processes."""
        return {key: value for key, value in vars(self).items() if value is not None}

    @classmethod
    def usual(cls, key: str) -> str:
        """Return a number's usual range as a sentence has it."""
        return next(field for field in dataclasses.fields(cls) if field.name == key).metadata["number"].sentence()

    def labeled(self) -> dict[str, float]:
        """Return the numbers that a verdict names: all with a label, or with a reason to stand in no view."""
        record = {field.name for field in dataclasses.fields(self) if field.metadata}
        return {
            key: float(value) for key, value in vars(self).items() if key in record and isinstance(value, int | float)
        }


def judges(record: type[Record]) -> Callable[[Callable[[Record], Verdict]], Callable[[Any], Verdict]]:
    """Let a judge take its record, or a mapping with the same keys, as a reading has it."""

    def of(judge: Callable[[Record], Verdict]) -> Callable[[Any], Verdict]:
        @wraps(judge)
        def taking(numbers: Measured | Mapping[str, Any]) -> Verdict:
            return judge(record.from_mapping(numbers))

        return taking

    return of


_RECORD = re.compile(r"^class Numbers\(\w+\):\n(?:(?:[ \t].*)?\n)*", re.MULTILINE)
_NAMES = {"number": number, "optional": optional, "ANY": ANY, "OWN": OWN, "FLAG": FLAG, "TWICE": TWICE}


@cache
def fields_of(file: Path) -> Mapping[str, Number]:
    """Return key -> Number of the record in a file, in its order, read without an import, which would import torch."""
    text = _RECORD.search(file.read_text(encoding="utf-8"))
    body = parse(text.group()).body[0].body if text else []
    return {
        ast.unparse(node.target): eval(ast.unparse(node.value), _NAMES).metadata["number"]
        for node in body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) in _NAMES
    }


def of_instrument(name: str) -> dict[str, Number]:
    """Return key -> Number of an instrument, each with its source and its view."""
    from bugzoo.diagnostics import declared

    view = declared(name).get("VIEW", "")
    return {
        key: dataclasses.replace(number, source=f"{name}.{key}", view=number.view or view)
        for key, number in fields_of(file_of(name)).items()
    }


def file_of(name: str) -> Path:
    """Return the file of an instrument."""
    return Path(__file__).parent / f"{name}.py"
