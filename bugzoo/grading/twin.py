"""What the healthy twin reaches on the grader's data: measured once, kept by the content of its text."""

import hashlib
import json
import math
import os
import threading
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from bugzoo.grading import reference
from bugzoo.running import Job, Limits, Run, run_worker
from bugzoo.scenario import Scenario

trusted = threading.RLock()
"""The reference model and torch's generators belong to one thread at a time."""


@dataclass(frozen=True)
class Twin:
    """Held-out accuracy and loss (nats), optimiser steps, the loss of each, parameter elements that never moved."""

    accuracy: float
    loss: float
    steps: int
    losses: tuple[float, ...]
    untouched: int


def folder() -> Path:
    """Where measured results are kept: $BUGZOO_CACHE, else the user's cache folder."""
    if given := os.environ.get("BUGZOO_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bugzoo"


_JUDGING = ("checks", "edits", "grade", "inside", "integrity", "model", "parts", "reference", "rows", "speed", "twin")


@cache
def code() -> str:
    """A hash of everything that takes part in measuring and judging, and of torch's version."""
    digest = hashlib.sha256(version("torch").encode())
    root = Path(__file__).parent.parent
    files = [root / "grading" / f"{name}.py" for name in _JUDGING]
    for room in ("running", "watching", "diagnostics", "grading/evaluation"):
        files += sorted((root / room).rglob("*.py"))
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def kept(kind: str, *parts: object) -> tuple[Path, dict | None]:
    """The file of a result and what is in it, None when it has not been measured."""
    key = hashlib.sha256(repr((kind, code(), *parts)).encode()).hexdigest()
    path = folder() / f"{kind}-{key[:40]}.json"
    try:
        return path, json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return path, None


def keep(path: Path, found: dict) -> None:
    """Store a result. A cache that cannot be written is no reason to fail."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")
        partial.write_text(json.dumps(found), encoding="utf-8")
        partial.replace(path)
    except OSError:
        pass


_in_work: dict[str, threading.Lock] = {}


def twin(scenario: Scenario) -> Twin:
    """The healthy twin's numbers. Raises RuntimeError when it does not finish: then nothing can be graded."""
    return reached(scenario, scenario.healthy().source)


def reached(scenario: Scenario, text: str) -> Twin:
    """What a text of the grader's own reaches on the grader's data. Raises RuntimeError when it does not finish."""
    with _in_work.setdefault(text, threading.Lock()):
        path, found = kept("twin", scenario.program, text)
        if found is None:
            run = run_worker(Job(text, file=f"{scenario.program}.py", limits=Limits(seconds=180), export=("model",)))
            if run.outcome != "finished":
                raise RuntimeError(f"The reference run ended as {run.outcome}: {run.trace.error.get('message', '')}")
            inputs, targets = _trusted_questions(scenario)
            with trusted:
                score = reference.measure(reference.answer(scenario, weights(run.arrays), inputs), targets)
            losses = tuple(float(value) for value in run.trace.loss)
            found = asdict(Twin(score.accuracy, score.loss, len(run.trace.step), losses, untouched(run)))
            keep(path, found)
    return Twin(found["accuracy"], found["loss"], found["steps"], tuple(found["losses"]), found["untouched"])


def _trusted_questions(scenario: Scenario):
    with trusted:
        return reference.questions(scenario)


def untouched(run: Run) -> int:
    """Elements of parameters that did not change at all."""
    return sum(math.prod(parameter.shape) for parameter in run.trace.parameters if parameter.changed == 0)


def weights(arrays: dict) -> dict:
    """The exported model's state_dict out of a run's arrays."""
    return {name.removeprefix("model."): value for name, value in arrays.items() if name.startswith("model.")}
