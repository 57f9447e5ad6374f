"""Are two numbers, texts or tensors of two runs the same, and if not: how far are they apart?"""

from collections import Counter
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import torch

from bugzoo.watching.state import same_numbers
from bugzoo.watching.tape import STAGES, Entry

Pair = tuple[Entry | None, Entry | None]
"""What two runs have in the same place; None where one of them has nothing there."""


def same(one: Any, other: Any, tolerance: float = 0.0) -> bool:
    """Equal to the last bit, NaN being equal to NaN; with a tolerance: apart by at most that part of the largest number."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        one, other = one.cpu(), other.cpu()
        if one.shape != other.shape or one.dtype != other.dtype or not tolerance or not one.is_floating_point():
            return same_numbers(one, other)
        one, other = one.double(), other.double()
        bad = ~(one.isfinite() & other.isfinite())
        if not same_numbers(one[bad], other[bad]):
            return False
        size = max((part[~bad].abs().max().item() for part in (one, other) if (~bad).any()), default=0.0)
        return bool(((one - other)[~bad].abs() <= tolerance * size).all())
    if isinstance(one, float | np.floating) and isinstance(other, float | np.floating):
        if one == other or (np.isnan(one) and np.isnan(other)):
            return True
        return bool(abs(one - other) <= tolerance * max(abs(one), abs(other)))
    return type(one) is type(other) and bool(one == other)


def apart(one: Any, other: Any) -> tuple[str, str, float | None, float | None]:
    """(here, there, largest difference, share of numbers that differ); the texts are of the place that differs most."""
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        number = isinstance(one, float | int) and isinstance(other, float | int)
        return shown(one), shown(other), abs(float(one) - float(other)) if number else None, None
    if one.shape != other.shape or one.dtype != other.dtype:
        return shown(one), shown(other), None, None
    a, b = one.cpu().double().flatten(), other.cpu().double().flatten()
    differs = ~((a == b) | (a.isnan() & b.isnan()))
    gap = (a - b).abs().nan_to_num(nan=torch.inf) * differs
    at = int(torch.where(differs, gap, -1.0).argmax())
    return shown(one.flatten()[at]), shown(other.flatten()[at]), float(gap[at]), float(differs.double().mean())


def shown(value: Any) -> str:
    """A number as short as tells it from its neighbours, a tensor by its shape and kind."""
    if isinstance(value, torch.Tensor):
        if value.numel() != 1:
            return f"{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
        value = value.item()
    return f"{value:.7g}" if isinstance(value, float) else str(value)[:60]


def first_pair(here: list[Entry], there: list[Entry], tolerance: float) -> tuple[list[Pair], Pair | None]:
    """(all pairs of the first stage that differs, the first of them that does); ([], None) where nothing differs."""
    for stage in STAGES:
        mine, other = ([one for one in side if one.stage == stage] for side in (here, there))
        pairs = list(_aligned(mine, other, tolerance) if stage == "forward" else _by_name(mine, other))
        different = [pair for pair in pairs if not _alike(pair, tolerance)]
        if different:
            return different, different[0]
    return [], None


def _alike(pair: Pair, tolerance: float) -> bool:
    one, other = pair
    return one is not None and other is not None and same(one.value, other.value, tolerance)


def _by_name(here: list[Entry], there: list[Entry]) -> list[Pair]:
    """Names that only one of the two has come last; where they share none, the first goes with the first."""
    if len(here) == len(there) and not {one.name for one in here} & {one.name for one in there}:
        return list(zip(here, there, strict=True))
    first, second = _numbered(here), _numbered(there)
    both = [(one, second[key]) for key, one in first.items() if key in second]
    mine = [(one, None) for key, one in first.items() if key not in second]
    return [*both, *mine, *((None, one) for key, one in second.items() if key not in first)]


def _numbered(entries: list[Entry]) -> dict[tuple[str, int], Entry]:
    """By name, and by which of that name it is: two models may call their weights alike."""
    found: dict[tuple[str, int], Entry] = {}
    times: Counter[str] = Counter()
    for one in entries:
        found[one.name, times[one.name]] = one
        times[one.name] += 1
    return found


def _aligned(here: list[Entry], there: list[Entry], tolerance: float) -> list[Pair]:
    """Results of the forward pass, operation by operation. One that only one side has, and after which both go on with the
    same numbers, changed nothing and is left out."""

    def keys(side: list[Entry]) -> list[Any]:
        return [(one.name, tuple(one.value.shape)) for one in side]

    pairs: list[Pair] = []
    waiting: list[Pair] = []
    for kind, a, b, c, d in SequenceMatcher(None, keys(here), keys(there), autojunk=False).get_opcodes():
        if kind != "equal":
            rows = max(b - a, d - c)
            left: list[Entry | None] = [*here[a:b], *[None] * (rows - (b - a))]
            right: list[Entry | None] = [*there[c:d], *[None] * (rows - (d - c))]
            waiting += list(zip(left, right, strict=True))
            continue
        matched = list(zip(here[a:b], there[c:d], strict=True))
        if not same(matched[0][0].value, matched[0][1].value, tolerance):
            pairs += waiting
        waiting = []
        pairs += matched
    return pairs + waiting
