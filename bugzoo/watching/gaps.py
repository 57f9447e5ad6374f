"""Separate the wait for data from the wait for a CUDA device.

On the clock of the host the two look alike: `loss.item()` after the step returns when the kernels have run. An event behind
the step's kernels says when that was, and only the time from then to the next forward pass is a wait for data. Events are
read when they have passed, so nothing is synchronized but once, to set the device's clock beside the host's.
"""

import time
from typing import Any

import torch

from bugzoo.watching.table import Table

_now = time.perf_counter


class Gaps:
    """Moves the wait for the device from `data_ms` of a table to `step_ms`. It is fed only for parameters on CUDA."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: tuple[Any, float] | None = None
        """The latest event that was read, and when it passed, in seconds of the host's clock."""
        self._left: tuple[Any, float] | None = None
        self._open: list[tuple[Any, float, float]] = []
        """(event, host times before and after the gap) of the current step."""
        self._passed: list[tuple[int, list[tuple[Any, float, float]]]] = []

    def leave(self, device: torch.device) -> None:
        """Note the end of a backward pass or of an optimizer step."""
        event = _mark(device)
        if self._known is None:
            event.synchronize()
            self._known = event, _now()
        self._left = event, _now()

    def enter(self) -> None:
        """Note the start of a forward pass."""
        if self._left is not None:
            self._open.append((*self._left, _now()))
            self._left = None

    def close(self, row: int, known: bool) -> None:
        """End the step of this row. `known`: whether its `data_ms` is a number."""
        if self._open and known:
            self._passed.append((row, self._open))
        self._open = []
        while self._passed and self._passed[0][1][-1][0].query():
            self._land(*self._passed.pop(0))

    def finish(self) -> None:
        """Wait for the device and correct the remaining rows."""
        for row, gaps in self._passed:
            gaps[-1][0].synchronize()
            self._land(row, gaps)
        self._passed = []

    def _land(self, row: int, gaps: list[tuple[Any, float, float]]) -> None:
        waited = 0.0
        for event, left, entered in gaps:
            assert self._known is not None
            start, at = self._known
            passed = at + start.elapsed_time(event) / 1e3
            self._known = event, passed
            waited += min(max(passed - left, 0.0), entered - left)
        for column, more in (("data_ms", -waited * 1e3), ("step_ms", waited * 1e3)):
            self._table.put(row, column, max(float(self._table.column(column)[row]) + more, 0.0))


def _mark(device: torch.device) -> Any:
    event = torch.cuda.Event(enable_timing=True)
    event.record(torch.cuda.current_stream(device))
    return event
