"""`Trace`: what one watched training run did, as plain numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bugzoo.watching.live import Live
from bugzoo.watching.records import Environment, ErrorRecord, Event, Forward, Graph, Parameter, Replay


def _empty(*shape: int) -> Callable[[], np.ndarray]:
    return partial(np.zeros, shape)


@dataclass
class Trace:
    """Numbers of one run. S optimiser steps, P parameters, M modules, K sampled steps.

    NaN marks "not taken at this step"; non-finite losses and norms are kept as they are.
    """

    step: Any = field(default_factory=_empty(0))
    """(S,) number of the optimiser step, from 1."""
    loss: Any = field(default_factory=_empty(0))
    """(S,) loss, unscaled (the GradScaler's factor divided out), mean over the step's backward calls."""
    grad_norm: Any = field(default_factory=_empty(0))
    """(S,) global L2 norm of the gradient that the optimiser got, before its step."""
    update_ratio: Any = field(default_factory=_empty(0))
    """(S,) |parameter change of the step| / |parameters|, NaN where not sampled."""
    learning_rate: Any = field(default_factory=_empty(0))
    scale: Any = field(default_factory=_empty(0))
    """(S,) GradScaler's factor, NaN without a scaler."""
    leftover: Any = field(default_factory=_empty(0))
    """(S,) norm of the gradient already present at the step's first backward, over the norm at the step; 0 is fresh."""
    backwards: Any = field(default_factory=_empty(0))
    """(S,) backward calls since the step before."""
    optimizer: Any = field(default_factory=_empty(0))
    """(S,) index of the optimiser that stepped."""
    data_ms: Any = field(default_factory=_empty(0))
    forward_ms: Any = field(default_factory=_empty(0))
    backward_ms: Any = field(default_factory=_empty(0))
    step_ms: Any = field(default_factory=_empty(0))
    """(S,) milliseconds: fetching data and other work before the forward pass; forward with loss; backward; optimiser.
    What the thread waited for a processor that other programs had is not counted. On CUDA the first three are the times
    of launching, not of computing."""
    memory_mib: Any = field(default_factory=_empty(0))
    """(S,) MiB: the process's resident memory on the CPU (sampled, NaN between), allocated memory on CUDA."""
    parameters: list[Parameter] = field(default_factory=list)
    param_grad_norm: Any = field(default_factory=_empty(0, 0))
    """(S, P) gradient norm; NaN where the gradient is None."""
    param_norm_step: Any = field(default_factory=_empty(0))
    """(K,) steps at which parameter norms were taken."""
    param_norm: Any = field(default_factory=_empty(0, 0))
    """(K, P)"""
    grad_zeros: Any = field(default_factory=_empty(0, 0))
    """(K, P) share of exact zeros in each gradient at the steps of `param_norm_step`; NaN where there is none."""
    modules: list[str] = field(default_factory=list)
    """M names, such as `Net.layer2 (Linear)`."""
    module_step: Any = field(default_factory=_empty(0))
    module_stats: Any = field(default_factory=_empty(0, 0, 5))
    """(K, M, 5) statistics of each module's output, columns STATISTICS."""
    forwards: list[Forward] = field(default_factory=list)
    graph: Graph = field(default_factory=Graph)
    events: list[Event] = field(default_factory=list)
    outcome: str = "finished"
    error: ErrorRecord = field(default_factory=ErrorRecord)
    metrics: dict[str, float] = field(default_factory=dict)
    """The script's own final numbers: its top-level dict named `metrics`, where it has one."""
    environment: Environment = field(default_factory=Environment)
    live: Live | None = field(default=None, repr=False, compare=False)
    """The run's own objects (models, optimisers, batches, namespace); never saved, None in a loaded trace."""

    def save(self, path: str | Path) -> Path:
        """Write the trace to one .npz file without pickle, whole or not at all. Raises UserError (a full disk, say)."""
        from bugzoo.watching.storage import save

        return save(self, path)

    @staticmethod
    def load(path: str | Path) -> "Trace":
        """Read a saved trace. Raises UserError for a file that is none."""
        from bugzoo.watching.storage import load

        return load(path)

    def replay(self, step: int) -> Replay:
        """Run optimiser step `step` (from 1) once more, under anomaly mode, and leave everything as it was.

        What is repeated is the body of the training loop, from the latest snapshot up to that step: up to some hundred
        iterations. Raises UserError when the step is out of reach of the snapshots, while the watch goes on, where nothing
        may be run again, or in a trace that was loaded from a file.
        """
        from bugzoo.rerun.step import replay

        return replay(self, step)

    def first_non_finite(self) -> Event | None:
        """The earliest non-finite event, None in a finite run; which operation made it is found by running that step again.

        That is done once, by the first call, and leaves everything as it was. A trace from a file has what was found then.
        """
        self.explain()
        return self.earliest("non_finite")

    def explain(self) -> None:
        """Complete what is known of the first non-finite number and of a crash, where that has not been done.

        What is repeated, once: the step that made the number, or the forward pass that crashed (or came before the backward
        pass that did). Everything is as before afterwards. Where nothing may be run again, nothing is.
        """
        if self.live is None or self.live.past is None or self.live.explained:
            return
        self.live.explained = True
        from bugzoo.rerun.explain import explain

        explain(self, self.live.past)

    def earliest(self, kind: str) -> Event | None:
        """The event of a kind with the smallest step; None where there is none."""
        found = [event for event in self.events if event.kind == kind]
        return min(found, key=lambda event: event.step, default=None)
