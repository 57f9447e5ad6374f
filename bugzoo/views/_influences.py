"""How much each output moves when one input is changed: positions of one sequence, or samples of one batch."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._sequences import Call, lengths
from bugzoo.rerun.model import call

POSITIONS, SAMPLES = 24, 8
"""Most positions and samples that are changed, each in one call."""

Table = list[list[float]]
"""(outputs, changed inputs) relative change."""


@dataclass(frozen=True)
class Positions:
    """What the changed positions of one sequence move: a map where the outputs are positions, else a strip."""

    padding_from: float
    length: float
    map: Table | None = None
    strip: list[float] | None = None


def spread_of(out: torch.Tensor) -> float:
    """Return the spread of the outputs over samples and positions, which changes are divided by."""
    rows = out.flatten(0, -2) if out.ndim > 1 else out[:, None]
    return float(rows.std(0, correction=0).mean()) + 1e-6 * float(rows.abs().mean()) + 1e-12


def by_sample(model: Any, arguments: Call, place: int, out: torch.Tensor) -> Table | None:
    """Change the first samples of a batch, one at a time; None if rows are not samples."""
    x = arguments.leaves[place]
    axis = next((a for a in (0, 1) if a < min(x.ndim, out.ndim) and x.shape[a] == out.shape[a] > 1), None)
    if axis is None or (axis == 1 and out.ndim < 3):
        return None
    rows, count = x.shape[axis], min(SAMPLES, x.shape[axis])
    spread, columns = spread_of(out), []
    for changed in range(count):
        new = x.clone()
        new.select(axis, changed).copy_(x.select(axis, (changed + rows // 2) % rows))
        moved = (call(model, *arguments.arguments({place: new})) - out).abs().movedim(axis, 0)
        columns.append((moved.flatten(1).mean(1) if moved.ndim > 1 else moved)[:count] / spread)
    return _rounded(torch.stack(columns, 1).tolist())


def by_position(model: Any, arguments: Call, place: int, out: torch.Tensor, time: int) -> Positions | None:
    """Change positions of one sequence, whose outputs are positions or a single row; None for no sequence.

    A position is replaced by another token or number of the batch. In the padding, the sequence is cut off there instead.
    """
    x = arguments.leaves[place]
    if x.ndim != (3 if x.is_floating_point() else 2):
        return None
    flat = out.shape[0] == x.shape[0] * x.shape[1] and x.shape[1] > 1
    shaped = out.reshape(*x.shape[:2], -1) if flat else out
    each = shaped.ndim > 2 and shaped.shape[:2] == x.shape[:2]
    if not each and (time == 0 or shaped.shape[0] != x.shape[0]):
        return None
    ends = lengths(x) if time == 1 else None
    sample, size = _sample(x, ends), x.shape[time]
    end = int(ends[sample]) if ends is not None else size
    spread, columns = spread_of(shaped), []
    for position in range(min(size, POSITIONS)):
        if position < end:
            new = call(model, *arguments.arguments({place: _replaced(x, sample, position, time, ends)}))
            moved = (new.reshape(shaped.shape) - shaped).abs()
            columns.append((moved.select(1 - time, sample) if each else moved[sample]).float() / spread)
        else:
            columns.append(_cut(model, arguments, sample, x.shape, position, each, spread))
    if not each:
        strip = [math.nan if change is None else float(change.mean()) for change in columns]
        return Positions(float(end), float(size), strip=strip)
    rows = [math.nan] * min(size, POSITIONS)
    filled = (rows if change is None else [*change.flatten(1).mean(1).tolist(), *rows] for change in columns)
    table = [column[: len(rows)] for column in filled]
    return Positions(float(end), float(size), map=_rounded(zip(*table, strict=True)))


def _rounded(table: Iterable[Iterable[float]]) -> Table:
    """Return the numbers with three digits: there are hundreds of them."""
    return [[float(f"{change:.3g}") for change in row] for row in table]


def _sample(x: torch.Tensor, ends: torch.Tensor | None) -> int:
    """The sample to change: the first, or one whose padding begins at two thirds of what is shown."""
    if ends is None:
        return 0
    begins = 2 * min(x.shape[1], POSITIONS) / 3
    padded = torch.where(ends < x.shape[1], (ends - begins).abs().float(), torch.full_like(ends, 10**6).float())
    return int(padded.argmin())


def _replaced(x: torch.Tensor, sample: int, position: int, time: int, ends: torch.Tensor | None) -> torch.Tensor:
    """`x` with another value at one position of one sample; never the padding, which would make it shorter."""
    new = x.clone()
    at = (sample, position) if time == 1 else (position, sample)
    if x.is_floating_point():
        new[at] += torch.randn(x[at].shape, generator=torch.Generator().manual_seed(position)).to(x) * (x.std() + 1e-3)
        return new
    values = x.unique()
    others = values != x[at]
    if ends is not None:
        others &= values != x[:, -1].mode().values
    values = values[others]
    if len(values):
        new[at] = values[(7 * position + 3) % len(values)]
    return new


def _cut(
    model: Any, arguments: Call, sample: int, shape: Any, position: int, each: bool, spread: float
) -> torch.Tensor | None:
    """Change of the outputs of a sample alone when it is cut off at `position`; None if the model takes no other length."""
    batch, time = shape[:2]
    try:
        long = call(model, *arguments.alone(sample, batch, time, time))[0]
        short = call(model, *arguments.alone(sample, batch, time, position))[0]
    except Exception:  # a model of fixed length
        return None
    if each:
        long, short = long[:position], short[:position]
    return (long - short).abs() / spread if long.shape == short.shape else None
