"""Find the first step whose loss or gradient is not finite."""

from math import isfinite
from typing import Any

import numpy as np
import torch

from bugzoo.watching.device import Waiting
from bugzoo.watching.records import Event, EventData
from bugzoo.watching.step_context import StepContext
from bugzoo.watching.table import Table


class Judge:
    """Checks every step until one is not finite. The operation that caused it is searched after the run.

    The gradients of a step that a GradScaler skips may be infinite: that is how it works.
    """

    def __init__(self, moment: StepContext) -> None:
        self.moment = moment
        self.finite = True

    def now(self, loss: Any, norm: Any, skipped: bool) -> bool:
        """Check the current step if its numbers are already known (on the CPU). Returns True if it is not finite.

        If `loss` or `norm` is NaN only because the watch has no value, the caller must pass 0 instead.
        """
        if isinstance(loss, torch.Tensor) or isinstance(norm, torch.Tensor):
            return False
        good = isfinite(loss)
        if good and (skipped or isfinite(norm)):
            return False
        self._note(self.moment.step, "gradient" if good else "loss")
        return True

    def late(self, table: Table, waiting: Waiting) -> int | None:
        """Check steps whose numbers arrive late, on CUDA. Returns the first step that is not finite, or None."""
        if not self.finite:
            return None
        skipped = {event.step for event in self.moment.events if event.kind == "skipped_step"}
        # NaN also means "not here yet", so only complete rows are checked.
        landed = waiting.landed
        loss, norm, backwards = (table.column(name)[:landed] for name in ("loss", "grad_norm", "backwards"))
        bad_loss = ~np.isfinite(loss) & (backwards > 0)
        bad_norm = ~np.isfinite(norm) & (backwards > 0)
        for row in np.flatnonzero(bad_loss | bad_norm).tolist():
            if bad_loss[row] or row + 1 not in skipped:
                self._note(row + 1, "loss" if bad_loss[row] else "gradient")
                return row + 1
        return None

    def _note(self, step: int, direction: str) -> None:
        self.finite = False
        data: EventData = {"module": None, "op": None, "direction": direction, "file": None, "line": None}
        self.moment.events.append(Event(step, "non_finite", data))
