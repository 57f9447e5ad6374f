"""The steps that a script's process reports on the progress pipe, taken in by its supervisor.

The script can write anything there. So only plain numbers are kept, of ranks that the job has and up to a total, and a
line that is too long, too deep or no step is dropped.
"""

import json
from array import array
from collections import Counter
from typing import Any

MOST = 200_000
"""Steps to keep, of all ranks together: 5 MiB of numbers."""
_LONGEST = 4096
"""Bytes of a line; the watch's own lines are shorter, so that a pipe takes them whole."""
_MOST_UNSENT = 2**22
"""Bytes to queue for a caller that does not read. Later steps are only in the trace."""


class Intake:
    """Steps of `ranks` processes. With `relay`, those of rank 0 are also queued in `unsent`, for the caller."""

    def __init__(self, ranks: int, relay: bool) -> None:
        self.ranks, self.relay = ranks, relay
        self.unsent = bytearray()
        self.made: Counter[int] = Counter()
        """Rank -> steps that it reported."""
        self._kept: dict[int, array[float]] = {}
        self._rest = b""

    def __bool__(self) -> bool:
        """Return whether any step was reported."""
        return bool(self._kept)

    def take(self, data: bytes) -> bool:
        """Take in lines {"step", "loss", "grad_norm", "seconds", "rank"}. Returns whether one of them was a step."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-_LONGEST:]
        steps = [self._step(line) for line in lines if len(line) < _LONGEST]
        return any(steps)

    def _step(self, line: bytes) -> bool:
        try:
            entry: dict[str, Any] = json.loads(line)
            rank, step = int(entry["rank"]), int(entry["step"])
            loss, norm, seconds = float(entry["loss"]), float(entry["grad_norm"]), float(entry.get("seconds") or 0.0)
            numbers = array("d", (step, loss, norm))
        except Exception:  # too deep, infinite, a list, no JSON at all
            return False
        if not 0 <= rank < self.ranks:
            return False
        self.made[rank] += 1
        rows = self._kept.setdefault(rank, array("d"))
        if len(rows) < 3 * MOST // self.ranks:
            rows += numbers
        if self.relay and rank == 0 and len(self.unsent) < _MOST_UNSENT:
            report = {"step": step, "loss": loss, "grad_norm": norm, "seconds": seconds}
            self.unsent += json.dumps({"step": report}).encode() + b"\n"
        return True

    def rows(self) -> dict[str, list[list[float]]]:
        """Return rank, as text -> [step, loss, gradient norm] of each step."""
        return {
            str(rank): [list(numbers[at : at + 3]) for at in range(0, len(numbers), 3)]
            for rank, numbers in sorted(self._kept.items())
        }

    def clear(self) -> None:
        """Forget everything, to free its memory."""
        self._kept, self._rest, self.unsent = {}, b"", bytearray()
