"""The recorded runs of a *five*: made once by `bugzoo exercises record`, opened in a notebook without a training.

A file holds five runs in the order in which they are shown: losses, metrics, and a reading for each view. Readings hold
what a view prints and draws, and nothing else. It does not say what was run; `proofs/recorded` does.
"""

import base64
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bugzoo import diagnostics, views
from bugzoo.errors import UserError
from bugzoo.plain import plain
from bugzoo.running import Reading

if TYPE_CHECKING:
    from bugzoo.diagnostics.numbers import Number
    from bugzoo.running import Run

FOLDER = Path(__file__).parents[2] / "recorded"
JUDGED = "instrument "
"""Before the name of an instrument among a run's readings; some views have the same name."""
DIGITS = 5
"""Significant digits that are kept of a number."""


@dataclass(frozen=True)
class Recorded:
    """One run: its losses, its metrics, and a reading for each view."""

    losses: tuple[float, ...]
    metrics: Mapping[str, float]
    readings: Mapping[str, Reading]

    def outside(self, view: str) -> "list[Number]":
        """Return the rows of a view whose number is outside its usual range."""
        return views.outside(view, self.readings[view].numbers)


def recorded_views() -> list[str]:
    """Return the views that are recorded: all but those of the machine, whose numbers differ from machine to machine."""
    return [name for heading, names in views.HEADINGS.items() if heading != "machine" for name in names]


def measured(run: "Run") -> dict[str, Reading]:
    """Return what `bugzoo exercises record` measures of a run: the views, and every instrument under its own name.

    This is a `Job.after` function.
    """
    judged = {f"{JUDGED}{name}": reading for name, reading in diagnostics.measure_all(run).items()}
    return {**views.measure(run, recorded_views()), **judged}


def path(name: str) -> Path:
    """Return the file of a recording."""
    return FOLDER / f"{name}.json"


@cache
def recording(name: str) -> tuple[Recorded, ...]:
    """Return the five runs of an exercise or of a drawn case. Raises UserError without a recording."""
    try:
        return read_back(path(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        exercise = name.partition("_")[0]
        raise UserError(f"{name} has no recording. Make it with `bugzoo exercises record {exercise}`.") from None


def _runs(packed: str) -> tuple[Recorded, ...]:
    return tuple(map(_read, json.loads(zlib.decompress(base64.b85decode(packed)))))


def _read(one: dict[str, Any]) -> Recorded:
    readings = {name: Reading.from_json(_floats(reading)) for name, reading in one["readings"].items()}
    return Recorded(tuple(map(float, one["losses"])), one["metrics"], readings)


def written(runs: "list[Run]") -> str:
    """Return the text of a recording's file."""
    recordings = [
        {
            "losses": run.trace.loss.tolist(),
            "metrics": dict(run.trace.metrics),
            "readings": {name: _kept(name, run.readings[name]).to_json() for name in recorded_views()},
        }
        for run in runs
    ]
    text = json.dumps(plain(_short(recordings)), separators=(",", ":"), sort_keys=True)
    return json.dumps({"runs": base64.b85encode(zlib.compress(text.encode(), 9)).decode()}) + "\n"


def read_back(text: str) -> tuple[Recorded, ...]:
    """Return the runs that `written` wrote."""
    return _runs(json.loads(text)["runs"])


def _kept(name: str, reading: Reading) -> Reading:
    """Return a reading without what the view neither prints nor draws: numbers that name causes are among it."""
    if not reading.applies:
        return reading
    from matplotlib.figure import Figure

    view = views.view(name).Numbers.from_mapping(reading.numbers)
    view.instruments = recorder = _Asked(view.instruments)
    views.draw(name, view, Figure())
    sources = {row.source for row in views.rows(name)} | recorder.asked
    numbers = {key: value for key, value in reading.numbers.items() if key in sources or "." not in key}
    return Reading(numbers)


class _Asked(dict[str, Any]):
    """Numbers that note which of them a picture asks for."""

    def __init__(self, numbers: Mapping[str, Any]) -> None:
        super().__init__(numbers)
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Note the key, and return its value as a dict does."""
        self.asked.add(key)
        return super().get(key, default)


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_short(item) for item in value]
    if hasattr(value, "tolist"):
        return _short(value.tolist())
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) and math.isfinite(value) else value


def _floats(value: Any) -> Any:
    """Undo what `plain` does to numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value
