"""The healthy twin of a notebook's program as numbers: run in a local worker, cached, its source never shown."""

import threading
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from bugzoo import device as places
from bugzoo import kept
from bugzoo.errors import UserError
from bugzoo.lab.healthy_twin import Curve
from bugzoo.running import Job, Limits, run_worker

_one_at_a_time = threading.Lock()
SECONDS = 600
"""Time limit of one run in a notebook, in seconds; it can be stopped at any time."""
ANOTHER = 7
"""Added to the seed of the twin where nothing is wrong: two equal curves would answer before anything is looked at."""
QUIET = 30.0
"""Seconds without a step after which a program of several ranks has hung: one rank then waits for another."""


@dataclass(frozen=True)
class Stop:
    """The error that ends a run."""

    type: str
    message: str
    line: int | None
    """The innermost line of the program in the traceback, from 1."""
    step: int
    """The optimizer step that it does not finish, from 1."""

    @property
    def sentence(self) -> str:
        return f"The run stops at step {self.step} with {self.type}: {(self.message.splitlines() or [''])[0]}"


@dataclass(frozen=True)
class Twin:
    """Which program is the healthy one: an exercise's or an assignment's. It does not hold the source."""

    exercise: str = ""
    program: str = ""
    seed: int = 0
    size: str = "full"
    device: str = places.CPU
    """Where it runs: on the device of the learner's program, so that the two compare."""
    _curve: list[Curve] = field(default_factory=list, repr=False, compare=False)

    def curve(self) -> Curve:
        """Return its steps, losses and gradient norms, bitwise reproducible. Raises UserError if it fails."""
        with _one_at_a_time:  # it starts in the background and may be requested meanwhile
            if not self._curve:
                text, ranks = _text(self)
                self._curve.append(recorded(places.on_device(text, self.device), ranks))
        return self._curve[0]


def job(source: str, ranks: int = 1, **more: Any) -> Job:
    """Return the job of a notebook's program, the same for healthy and learner's, so the numbers compare."""
    limits = Limits(seconds=SECONDS, quiet_seconds=QUIET if ranks > 1 else None)
    return Job(source, file="program.py", limits=limits, ranks=ranks, **more)


def _text(twin: Twin) -> tuple[str, int]:
    """Return (text, ranks)."""
    from bugzoo.grading.exercises import load
    from bugzoo.grading.texts import healthy_text, tidy
    from bugzoo.scenario import Scenario, with_settings

    if twin.exercise:
        exercise = load(twin.exercise)
        text = healthy_text(exercise)
        if exercise.trap:
            text = with_settings(text, {"seed": exercise.seed + ANOTHER}, "the program")
        return text, exercise.scenario.ranks
    scenario = Scenario(twin.program, seed=twin.seed, size=twin.size)
    return tidy(scenario.source), scenario.ranks


def stop(text: str, ranks: int = 1) -> Stop:
    """Return the error that ends a program's run, run once on this machine. Raises UserError if no error ends it."""
    key = kept.key("stop", text, ranks, version("torch"))
    entry = kept.read(key)
    if entry is None:
        trace = run_worker(job(text, ranks)).trace
        if trace.outcome != "crashed":
            raise UserError(f"The recorded run ended as {trace.outcome}, and not with an error. Try again.")
        error = {name: trace.error.get(name) for name in ("type", "message", "line")}
        entry = {**error, "step": len(trace.step) + 1}
        kept.write(key, entry)
    return Stop(**entry)


def recorded(text: str, ranks: int = 1) -> Curve:
    """Return a program's run as a curve, run once on this machine. Raises UserError if it did not finish."""
    key = kept.key("curve", text, ranks, version("torch"))
    entry = kept.read(key)
    if entry is None:
        steps: list[dict[str, Any]] = []
        run = run_worker(job(text, ranks), on_step=steps.append)
        if run.outcome not in ("finished", "non_finite"):
            raise UserError(f"The recorded run ended as {run.outcome}. Try again.")
        curves = {name: [step[name] for step in steps] for name in ("step", "loss", "grad_norm")}
        entry = {**curves, "metrics": {name: float(value) for name, value in run.trace.metrics.items()}}
        kept.write(key, entry)
    return Curve(entry["step"], entry["loss"], entry["grad_norm"], entry["metrics"], places.of_text(text))
