"""`Trace`: the record of one watched training run, as plain numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bugzoo.contracts.model import Finding
from bugzoo.watching.live import Live
from bugzoo.watching.records import Environment, ErrorRecord, Event, Forward, Graph, Parameter, Replay, Validation


def _empty(*shape: int) -> Callable[[], np.ndarray]:
    return partial(np.zeros, shape)


@dataclass
class Trace:
    """The numbers of one run. S optimizer steps, P parameters, M modules, K sampled steps.

    NaN means "not measured at this step". Losses and norms that are not finite are kept as they are.
    """

    step: Any = field(default_factory=_empty(0))
    """(S,) number of the optimizer step, from 1."""
    loss: Any = field(default_factory=_empty(0))
    """(S,) loss, divided by the GradScaler's loss scale, mean over the step's backward calls."""
    grad_norm: Any = field(default_factory=_empty(0))
    """(S,) global L2 norm of the gradient that the optimizer got, before its step."""
    update_ratio: Any = field(default_factory=_empty(0))
    """(S,) |parameter change of the step| / |parameters|, NaN if not sampled."""
    learning_rate: Any = field(default_factory=_empty(0))
    scale: Any = field(default_factory=_empty(0))
    """(S,) GradScaler's loss scale, NaN without a scaler."""
    leftover: Any = field(default_factory=_empty(0))
    """(S,) norm of the old gradient at the step's first backward, divided by the norm at the step. 0 means fresh."""
    backwards: Any = field(default_factory=_empty(0))
    """(S,) backward calls since the step before."""
    optimizer: Any = field(default_factory=_empty(0))
    """(S,) index of the optimizer that stepped."""
    data_ms: Any = field(default_factory=_empty(0))
    forward_ms: Any = field(default_factory=_empty(0))
    backward_ms: Any = field(default_factory=_empty(0))
    step_ms: Any = field(default_factory=_empty(0))
    """(S,) milliseconds: fetching data and other work before the forward pass; forward with loss; backward; optimizer.
    Waiting for a busy processor does not count. On CUDA forward and backward are the times of launching kernels, and the
    wait for them is part of `step_ms`."""
    memory_mib: Any = field(default_factory=_empty(0))
    """(S,) MiB: the process's resident memory on the CPU (sampled, NaN between), allocated memory on CUDA."""
    parameters: list[Parameter] = field(default_factory=list)
    param_grad_norm: Any = field(default_factory=_empty(0, 0))
    """(S, P) gradient norm, NaN if `.grad` is None."""
    param_norm_step: Any = field(default_factory=_empty(0))
    """(K,) steps at which parameter norms were measured."""
    param_norm: Any = field(default_factory=_empty(0, 0))
    """(K, P) parameter norms."""
    grad_zeros: Any = field(default_factory=_empty(0, 0))
    """(K, P) share of exact zeros in each gradient at the steps of `param_norm_step`, NaN without a gradient."""
    modules: list[str] = field(default_factory=list)
    """M names, such as `Net.layer2 (Linear)`."""
    module_step: Any = field(default_factory=_empty(0))
    module_stats: Any = field(default_factory=_empty(0, 0, 5))
    """(K, M, 5) statistics of each module's output, columns STATISTICS."""
    forwards: list[Forward] = field(default_factory=list)
    validation: list[Validation] = field(default_factory=list)
    """One for each place at which the script evaluates (see `bugzoo.watching.validation`), in the order of first calls."""
    graph: Graph = field(default_factory=Graph)
    events: list[Event] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Library calls of the script whose documented demands are not met (`bugzoo.contracts`)."""
    outcome: str = "finished"
    error: ErrorRecord = field(default_factory=ErrorRecord)
    metrics: dict[str, float] = field(default_factory=dict)
    """The script's own final numbers: its top-level dict named `metrics`, if it has one."""
    environment: Environment = field(default_factory=Environment)
    live: Live | None = field(default=None, repr=False, compare=False)
    """The run's own objects (models, optimizers, batches, namespace). Never saved, and None in a loaded trace."""

    def save(self, path: str | Path) -> Path:
        """Write the trace to one .npz file without pickle, completely or not at all. Raises UserError (e.g. full disk)."""
        from bugzoo.watching.storage import save

        return save(self, path)

    @staticmethod
    def load(path: str | Path) -> "Trace":
        """Read a saved trace. Raises UserError for a file that is not a trace."""
        from bugzoo.watching.storage import load

        return load(path)

    def replay(self, step: int) -> Replay:
        """Re-run optimizer step `step` (from 1) in anomaly mode, and restore everything afterwards.

        The body of the training loop is repeated from the latest snapshot up to that step: up to some hundred iterations.
        Raises UserError if no snapshot reaches the step, while the watch is active, if nothing may be re-run, or in a
        loaded trace.
        """
        from bugzoo.rerun.step import replay

        return replay(self, step)

    def first_non_finite(self) -> Event | None:
        """Return the first NaN or infinity, None in a finite run. The step is re-run to find the operation that made it.

        Only the first call re-runs it, and everything is restored. A loaded trace has the result from before.
        """
        self.explain()
        return self.earliest("non_finite")

    def explain(self) -> None:
        """Find the cause of the first NaN or infinity, or of a crash, unless that was done already.

        It re-runs, once, the step with the first NaN or infinity, or the forward pass that crashed (or came before the
        failed backward pass). Everything is restored afterwards. If nothing may be re-run, this does nothing.
        """
        if self.live is None or self.live.past is None or self.live.explained:
            return
        self.live.explained = True
        from bugzoo.rerun.explain import explain

        explain(self, self.live.past)

    def earliest(self, kind: str) -> Event | None:
        """Return the event of a kind with the smallest step, None if there is no such event."""
        events = [event for event in self.events if event.kind == kind]
        return min(events, key=lambda event: event.step, default=None)
