"""The healthy twin's results on the grader's data: measured once, cached by the content of its text."""

import math
import threading
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from bugzoo import kept
from bugzoo.fingerprint import code_of, of_files
from bugzoo.grading import evaluation, reference, salt
from bugzoo.grading.isolation import isolate
from bugzoo.grading.reference import trusted
from bugzoo.grading.tolerances import tolerances
from bugzoo.running import Job, Limits, Run, run_worker, sandbox
from bugzoo.scenario import Scenario
from bugzoo.watching.steps import read


@dataclass(frozen=True)
class Baseline:
    """Held-out metric and loss, number of optimizer steps, loss of each step, parameter elements that never moved."""

    value: float
    """Value of the task's metric: accuracy, r2."""
    loss: float
    steps: int
    losses: tuple[float, ...]
    untouched: int
    settings: tuple[Any, ...] = ()
    """What the optimizers did (`watching.steps.Steps.settings`); empty for several ranks."""


_in_work: dict[str, threading.Lock] = {}


def twin(scenario: Scenario) -> Baseline:
    """Return the healthy twin's numbers; for a trap those of the program itself, whose loss may differ.

    Raises RuntimeError if it does not finish: then nothing can be graded.
    """
    return reached(scenario, _text(scenario))


def _text(scenario: Scenario) -> str:
    return scenario.source if tolerances(scenario).healthy else scenario.healthy().source


def reached(scenario: Scenario, text: str) -> Baseline:
    """Return the results of a trusted text on the grader's data. Raises RuntimeError if it does not finish."""
    with _in_work.setdefault(text, threading.Lock()):
        key = _key(scenario, text)
        entry = kept.read(key)
        if entry is None:
            run = run_worker(_job(scenario, text))
            if run.outcome != "finished":
                raise RuntimeError(f"The reference run ended as {run.outcome}: {run.trace.error.get('message', '')}")
            inputs, targets = _trusted_questions(scenario)
            with trusted:
                answers = reference.answer(scenario, weights(run.arrays), inputs)
            score = evaluation.task(scenario.program).measure(answers, targets)
            losses = tuple(float(value) for value in run.trace.loss)
            settings = tuple(read(run.arrays)[-1])
            entry = asdict(Baseline(score.value, score.loss, len(run.trace.step), losses, untouched(run), settings))
            kept.write(key, entry)
    losses, settings = tuple(entry["losses"]), tuple(entry["settings"])
    return Baseline(entry["value"], entry["loss"], entry["steps"], losses, entry["untouched"], settings)


def _job(scenario: Scenario, text: str) -> Job:
    """Return the twin's job. It runs as a submission does, in the same warm process: a second one takes seconds to start."""
    file, limits = f"{scenario.program}.py", Limits(seconds=180)
    job = Job(text, file=file, limits=limits, ranks=scenario.ranks, export=("model",), keep_steps=b"\0")
    if sandbox.missing():
        return job
    with trusted:
        return isolate(job, reference.unseen(scenario))


def known(scenario: Scenario) -> bool:
    """Return whether the twin's numbers are in the cache: then `twin` runs nothing."""
    return kept.read(_key(scenario, _text(scenario))) is not None


def _key(scenario: Scenario, text: str) -> str:
    return kept.key("twin", scenario.program, text, _code(), version("torch"), salt.current())


@cache
def _code() -> str:
    """Return the hash of all code that affects these numbers, from the cache as long as no file of bugzoo changes."""
    key = kept.key("code", of_files())
    if not isinstance(digest := (kept.read(key) or {}).get("code"), str):
        digest = code_of("bugzoo.grading.baseline:reached")
        kept.write(key, {"code": digest})
    return digest


def _trusted_questions(scenario: Scenario) -> tuple[Any, Any]:
    with trusted:
        return reference.questions(scenario)


def untouched(run: Run) -> int:
    """Count parameter elements that never changed, nor did one of the same name, as a frozen copy may be kept."""
    most: dict[tuple[str, tuple[int, ...]], float] = {}
    keys = {(parameter.name, tuple(parameter.shape)) for parameter in run.trace.parameters if parameter.name}
    for place, parameter in enumerate(run.trace.parameters):
        key = (parameter.name or str(place), tuple(parameter.shape))
        bare = (key[0].partition(".")[2], key[1])  # a second model's parameters are named with its class as a prefix
        key = bare if bare in keys else key
        most[key] = max(most.get(key, 0.0), math.inf if math.isnan(parameter.changed) else parameter.changed)
    return sum(math.prod(shape) for (_, shape), changed in most.items() if changed == 0)


def weights(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the exported state_dict from a run's arrays, without the prefixes of DDP or torch.compile."""
    state = {name.removeprefix("model."): value for name, value in arrays.items() if name.startswith("model.")}
    for wrapper in ("module.", "_orig_mod."):
        if state and all(name.startswith(wrapper) for name in state):
            state = {name.removeprefix(wrapper): value for name, value in state.items()}
    return state
