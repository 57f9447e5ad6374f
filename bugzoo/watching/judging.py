"""The first step whose loss or gradient is not finite."""

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bugzoo.watching.trace import Event

if TYPE_CHECKING:
    from bugzoo.watching.recorder import Recorder


class Judge:
    """Judges every step until one is not finite; what made it so is looked for when the run has ended.

    The gradients of a step that a GradScaler skips may be infinite: that is how it works.
    """

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self.finite = True

    def now(self, loss: Any, norm: Any, skipped: bool) -> None:
        """Judge the step that is being made by its numbers, where they are known already: on the CPU.

        A NaN of `loss` or `norm` as the watch's own "there is none" must have been replaced by 0.
        """
        if isinstance(loss, torch.Tensor) or isinstance(norm, torch.Tensor):
            return
        good = isfinite(loss)
        if not (good and (skipped or isfinite(norm))):
            self._note(self.recorder.step, "gradient" if good else "loss")
            if self.recorder.history is not None:
                self.recorder.history.pin()

    def late(self) -> None:
        """The same judgement where numbers arrive late: on CUDA."""
        if not self.finite:
            return
        recorder = self.recorder
        skipped = {event.step for event in recorder.trace.events if event.kind == "skipped_step"}
        # NaN also stands for "not here yet", so only complete rows are judged.
        known = recorder.waiting.landed
        loss, norm, backwards = (recorder.table.column(name)[:known] for name in ("loss", "grad_norm", "backwards"))
        bad_loss = ~np.isfinite(loss) & (backwards > 0)
        bad_norm = ~np.isfinite(norm) & (backwards > 0)
        for row in np.flatnonzero(bad_loss | bad_norm).tolist():
            if bad_loss[row] or row + 1 not in skipped:
                self._note(row + 1, "loss" if bad_loss[row] else "gradient")
                if recorder.history is not None:
                    recorder.history.stop(row + 1)
                return

    def _note(self, step: int, direction: str) -> None:
        self.finite = False
        data = {"module": None, "op": None, "direction": direction, "file": None, "line": None}
        self.recorder.trace.events.append(Event(step, "non_finite", data))
